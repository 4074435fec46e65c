/**
 * Decides which CA a login trusts for a coordinator with its own CA: the one with the given fingerprint, or the one that the user confirms
 * on the terminal. Decided before any secret is sent, and stored with the login.
 */
import type { Presented } from '../presented-chain.js'
import type { Server } from './api.js'
import { CliError, exitCodes, usageError } from './cli-error.js'
import { confirm } from './confirm.js'
import type { Session } from './session-file.js'
import { textFlag, type Invocation, type System } from './verb.js'

/** OpenSSL's error codes for an unknown CA. */
const unknownCa: ReadonlySet<string> = new Set([
  ...['SELF_SIGNED_CERT_IN_CHAIN', 'DEPTH_ZERO_SELF_SIGNED_CERT'],
  ...['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY'],
])

/** Throws CliError if the coordinator presents another CA than the given one. */
export async function trustServer(invocation: Invocation, server: Server): Promise<Server> {
  const given = textFlag(invocation, 'fingerprint')
  const wanted = given === undefined ? undefined : readFingerprint(given)
  const isTls = server.url.startsWith('https:')
  if (wanted !== undefined && !isTls)
    throw usageError(`--fingerprint is of a certificate: it needs https:// in ${server.url}`)
  if (wanted !== undefined) return trustFingerprint(server, wanted)
  const { stdin, stderr } = invocation.system
  const mayAsk = isTls && server.ca === undefined && stdin.isTTY && stderr.isTTY
  return mayAsk ? askForTrust(invocation, server) : server
}

async function trustFingerprint(server: Server, wanted: string): Promise<Server> {
  const { chain } = await present(server)
  const ca = chain.find(({ fingerprint }) => fingerprint === wanted)
  if (ca) return { ...server, ca: ca.pem }
  const last = chain.at(-1)
  throw new CliError(
    exitCodes.refused,
    `${server.url} does not present the certificate ${wanted}, but ${last?.fingerprint ?? 'none'} ` +
      `(${last?.subject ?? 'nobody'}); nothing was sent. \`cachefleetd tls show\` on its host tells the right one`,
  )
}

async function askForTrust(invocation: Invocation, server: Server): Promise<Server> {
  const presented = await present(server).catch(() => null) // the login itself reports the error
  const ca = presented?.chain.at(-1)
  if (!ca || presented?.problem == null || !unknownCa.has(presented.problem)) return server
  const { stderr } = invocation.system
  stderr.write(`The certificate of ${server.url} is by a CA that is not known here:\n`)
  stderr.write(`  ${ca.subject}\n  fingerprint ${ca.fingerprint}\n`)
  stderr.write('`cachefleetd tls show` on its host tells the right one.\n')
  await confirm(invocation, 'trust it for this login')
  return { ...server, ca: ca.pem }
}

async function present({ url }: Server): Promise<Presented> {
  const { readPresentedChain } = await import('../presented-chain.js')
  return readPresentedChain(new URL(url)).catch((error: unknown) => {
    const why = error instanceof Error ? error.message : String(error)
    throw new CliError(exitCodes.refused, `Cannot reach ${url} by TLS: ${why}`)
  })
}

/** Accepts our own form, and 64 hexadecimal digits with or without colons. */
function readFingerprint(text: string): string {
  const digits = text.trim().replaceAll(':', '')
  if (/^[0-9a-f]{64}$/i.test(digits)) return Buffer.from(digits, 'hex').toString('base64url')
  if (/^[\w-]{43}$/.test(digits)) return digits
  throw usageError(
    '--fingerprint: it must be the SHA-256 of the CA, as `cachefleetd tls show` prints it (43 characters), or as 64 hexadecimal digits',
  )
}

/** Stores the CA with the login unless CACHEFLEET_CA names a file, whose content may change. */
export function keepTrust(session: Session, { ca }: Server, { environment }: System): Session {
  const isNamed = (environment['CACHEFLEET_CA'] ?? '') !== ''
  return ca === undefined || isNamed ? session : { ...session, ca }
}
