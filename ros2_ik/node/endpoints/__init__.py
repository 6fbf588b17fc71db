"""Services, actions and topics of the node; one module per service, action or topic group."""
