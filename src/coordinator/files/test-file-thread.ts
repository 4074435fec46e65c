/** The thread that checks one test of VCL. */
import { parentPort, workerData } from 'node:worker_threads'
import { findTestProblems } from './check-test-file.js'

parentPort?.postMessage(findTestProblems(workerData as string)) // as requireTestFile gives it
