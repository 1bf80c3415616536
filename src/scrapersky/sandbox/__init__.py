"""The sandbox: example workflows, and invented businesses whose web sites and providers are served on this machine."""
