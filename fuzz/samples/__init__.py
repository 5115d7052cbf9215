"""The files of fuzz/corpus, a module for kinds that are alike."""
