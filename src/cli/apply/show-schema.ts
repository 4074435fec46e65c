/** `apply --schema`: prints the schema of documents, read from the coordinator; needs no login. */
import { checkAnswer } from '../api.js'
import { chooseServer } from '../connection.js'
import { exitCodes, type ExitCode } from '../cli-error.js'
import { callHttp } from '../http-call.js'
import { readSession, sessionFilePath } from '../session-file.js'
import type { Invocation } from '../verb.js'

const timeoutMs = 30_000

export async function showSchema({ settings, system, output }: Invocation): Promise<ExitCode> {
  const session = await readSession(sessionFilePath(system.environment), settings.context)
  const server = await chooseServer(settings, system, session)
  const url = new URL(`${server.url}/docs/apply.json`)
  const { ca, traceId } = server
  const answer = await callHttp({ method: 'GET', url, headers: {}, timeoutMs, ca, traceId })
  const { body } = checkAnswer(answer, server)
  output.write(`${JSON.stringify(body, null, 2)}\n`)
  return exitCodes.done
}
