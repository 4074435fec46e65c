/** The thread of one comparison: the library goes through all lines of both texts without letting go. */
import { parentPort, workerData } from 'node:worker_threads'
import { compareHere, type Comparison } from './compare-here.js'

parentPort?.postMessage(compareHere(workerData as Comparison)) // as compareTexts gives it
