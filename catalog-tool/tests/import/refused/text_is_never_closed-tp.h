TRACEPOINT_MODEL_EMF_URI(shop, sale, "https://example.org)
