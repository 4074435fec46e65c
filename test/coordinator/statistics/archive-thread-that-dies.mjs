// The thread of the archive, which ends at once when an agent of this id is released.
import { parentPort } from 'node:worker_threads'

parentPort?.on('message', (message) => {
  if (message.kind === 'release' && message.agentId === 666) process.exit(1)
})
await import('../../../dist/src/coordinator/statistics/store/archive-thread.js')
