/** Calls over one connection that stays open, with little code of their own around them: what an answer takes, not its client. */
import { Agent, request } from 'node:http'
import type { TestEnd } from '../support/daemon.js'

export type Call = (method: string, path: string, body?: unknown) => Promise<string>

/** Its calls reject unless they are answered with 2xx; they return the answer's text. */
export function keepConnection(
  t: TestEnd,
  { base, token }: { readonly base: string; readonly token: string },
): Call {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  t.teardown(() => {
    agent.destroy()
    return Promise.resolve()
  })
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  return (method, path, body) =>
    new Promise((resolve, reject) => {
      const asked = request(new URL(path, base), { agent, method, headers }, (answer) => {
        let text = ''
        answer.setEncoding('utf8')
        answer.on('data', (part: string) => (text += part))
        answer.on('error', reject)
        answer.on('end', () => {
          const { statusCode: status = 0 } = answer
          if (status >= 200 && status < 300) resolve(text)
          else reject(new Error(`${method} ${path}: ${status} ${text}`))
        })
      })
      asked.on('error', reject)
      asked.end(body === undefined ? undefined : JSON.stringify(body))
    })
}
