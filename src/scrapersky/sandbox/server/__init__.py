"""The HTTP and DNS servers of the sandbox, its certificates, and injected faults."""
