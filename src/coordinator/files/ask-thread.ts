/** One answer of a thread of its own, for work that cannot let go in between. */
import { once } from 'node:events'
import { Worker } from 'node:worker_threads'

/** Null when it did not come within `timeoutMs`; `input` is what the thread gets. */
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
    return answer[0] as Answer | null // as the thread posts it
  } finally {
    clearTimeout(late)
    await thread.terminate()
  }
}
