#!/usr/bin/env node
/** The command-line client. */
import { startProgram } from '../start-program.js'

startProgram('cachefleet')
