"""The pages of the web interface: server-rendered HTML, sessions, security headers."""
