/** Runs one job in its own thread, for work that cannot yield to the event loop. */
import { once } from 'node:events'
import { Worker } from 'node:worker_threads'

/** Returns null if there is no answer within `timeoutMs`; `input` is passed to the thread. */
export async function askThread<Answer>(
  file: URL,
  input: unknown,
  timeoutMs: number,
): Promise<Answer | null> {
  const thread = new Worker(file, { workerData: input })
  const late = setTimeout(() => {
    void thread.terminate()
  }, timeoutMs)
  try {
    const answer = await Promise.race([
      once(thread, 'message'),
      once(thread, 'exit').then(() => [null]),
    ])
    return answer[0] as Answer | null // posted by the thread
  } finally {
    clearTimeout(late)
    await thread.terminate()
  }
}
