"""The test-suite; `tests.oracles` holds the slow independent truths that the rest compares with."""
