/** The thread of one comparison: the library compares both texts without yielding to the event loop. */
import { parentPort, workerData } from 'node:worker_threads'
import { compareHere, type Comparison } from './compare-here.js'

parentPort?.postMessage(compareHere(workerData as Comparison)) // set by compareTexts
