/** `cachefleet certificates add|update|deploy|renew|rollback`: reads chain and key from files or standard input, never from a flag. */
import { splitPem } from '../resources/pem.js'
import type { Api } from './api.js'
import { requireFields, type Fields } from './api-shapes.js'
import { CliError, exitCodes, usageError, type ExitCode } from './cli-error.js'
import { confirmObject } from './confirm.js'
import { openObject } from './find-object.js'
import { readBytes } from './given-text.js'
import { buildBody } from './object-body.js'
import { showText } from './output.js'
import { toPrintableLine } from './printable-text.js'
import { isSet, textFlag, type Field, type Invocation, type Named } from './verb.js'

/** Time allowed for the response beyond the wait. */
const answerTimeMs = 60_000
const defaultWaitSeconds = 60
const longestWaitSeconds = 600

export async function readCertificate(
  invocation: Invocation,
  api: Api,
  fields: readonly Field[],
): Promise<Fields> {
  return { ...(await buildBody(invocation, api, fields)), ...(await readTexts(invocation)) }
}

export async function renewCertificate(invocation: Invocation, kind: Named): Promise<ExitCode> {
  const texts = await readTexts(invocation)
  if (!('chain' in texts)) throw usageError('--chain and --key are missing; both are files, or -')
  const wait = readWait(invocation)
  const { api, path } = await openObject(invocation, kind)
  await api.call({ method: 'PUT', path, body: texts })
  return callVerb(invocation, api, `${path}/deploy`, wait)
}

export async function putCertificate(
  invocation: Invocation,
  kind: Named,
  verb: 'deploy' | 'rollback',
): Promise<ExitCode> {
  const wait = readWait(invocation)
  const { api, path } = await openObject(invocation, kind)
  return callVerb(invocation, api, `${path}/${verb}`, wait)
}

export async function rollBackCertificate(invocation: Invocation, kind: Named): Promise<ExitCode> {
  readWait(invocation)
  await confirmObject(invocation, 'roll back', kind)
  return putCertificate(invocation, kind, 'rollback')
}

async function callVerb(
  { output }: Invocation,
  api: Api,
  path: string,
  seconds: number,
): Promise<ExitCode> {
  const timeoutMs = seconds * 1000 + answerTimeMs
  const query = { wait: String(seconds) }
  const { status, body } = await api.call({ method: 'PUT', path, query, timeoutMs })
  const left = requireFields(body)
  const line = `${String(left['name'])}: ${String(left['stateName'])}`
  showText(output, toPrintableLine(line), left)
  if (status !== 202 || seconds === 0) return exitCodes.done
  throw new CliError(
    exitCodes.unfinished,
    `Not every agent has it after ${seconds} s; this continues`,
  )
}

/** Returns an empty object if neither flag is given. A file, or standard input, may contain both chain and key. */
async function readTexts({ flags, system, ...rest }: Invocation): Promise<Fields> {
  const invocation = { flags, system, ...rest }
  const [chainFile, keyFile] = [textFlag(invocation, 'chain'), textFlag(invocation, 'key')]
  if (chainFile === undefined && keyFile === undefined) return {}
  if (chainFile === undefined || keyFile === undefined)
    throw usageError('--chain and --key go together; one file may hold both')
  if (textFlag(invocation, 'data') === '-' && (chainFile === '-' || keyFile === '-'))
    throw usageError('--data - and a certificate from - both read standard input')
  const chain = (await readBytes(chainFile, system)).toString('utf8')
  if (chainFile !== keyFile)
    return { chain, key: (await readBytes(keyFile, system)).toString('utf8') }
  return { chain: pickBlocks(chain, 'CERTIFICATE'), key: pickBlocks(chain, 'PRIVATE KEY') }
}

/** Returns the PEM blocks whose label ends with `label`. */
function pickBlocks(text: string, label: string): string {
  const blocks = splitPem(text).filter((block) => block.label.endsWith(label))
  return blocks.map((block) => block.text).join('')
}

/** Returns whole seconds. */
function readWait(invocation: Invocation): number {
  if (isSet(invocation, 'detach')) return 0
  const [, seconds = ''] =
    /^(\d{1,4})s?$/.exec(textFlag(invocation, 'wait') ?? String(defaultWaitSeconds)) ?? []
  if (seconds === '' || Number(seconds) > longestWaitSeconds)
    throw usageError(`--wait takes whole seconds from 0 to ${longestWaitSeconds}, like 60s`)
  return Number(seconds)
}
