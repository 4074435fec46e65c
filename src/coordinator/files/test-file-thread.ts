/** The thread that checks one VCL test. */
import { parentPort, workerData } from 'node:worker_threads'
import { findTestProblems } from './check-test-file.js'

parentPort?.postMessage(findTestProblems(workerData as string)) // set by requireTestFile
