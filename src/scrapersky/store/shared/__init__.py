"""SQL of what all processes share: host limits, rate limits, cooldowns and cached responses of providers."""
