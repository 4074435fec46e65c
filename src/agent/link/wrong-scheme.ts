/** Detects a coordinator's address with the wrong scheme: neither side's error reveals it. */
import { speaksTls } from '../../speaks-tls.js'

/** Returns undefined if the scheme is not the problem. */
export async function findWrongScheme(
  address: string,
  error: unknown,
): Promise<string | undefined> {
  const { protocol, host, hostname, port } = new URL(address)
  const isTls = protocol === 'wss:' || protocol === 'https:'
  if (isTls)
    return isNoTls(error)
      ? `the coordinator at ${host} does not speak TLS; use ws://${host} in --coordinator-url`
      : undefined
  const isCutOff = error instanceof Error && 'code' in error && error.code === 'ECONNRESET'
  return isCutOff && (await speaksTls({ hostname, port }))
    ? `the coordinator at ${host} speaks TLS; use wss://${host} in --coordinator-url`
    : undefined
}

/** OpenSSL's messages for bytes that are not TLS: its error code is that of any failed handshake. */
function isNoTls(error: unknown): boolean {
  return error instanceof Error && /wrong version number|packet length too long/.test(error.message)
}
