"""Services, actions and topics of the node; one module for each group of them."""
