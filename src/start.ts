#!/usr/bin/env node
/** The daemon. */
import { startProgram } from './start-program.js'

startProgram('cachefleetd')
