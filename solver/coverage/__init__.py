"""Coverage of tool pairs and rules: suites, certificates, mutations."""
