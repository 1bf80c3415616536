"""Facts about a business and its site: metadata, organisation, technologies, addresses, social profiles."""
