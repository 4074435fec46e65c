/** Runs test files one after the other in one process: those that the variable CACHEFLEET_TEST_FILES lists, as JSON. */
for (const file of JSON.parse(process.env.CACHEFLEET_TEST_FILES)) await import(file)
