"""Endpoints: a file for each service, action or group of topics."""
