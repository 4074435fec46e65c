/** A coordinator's address with the wrong scheme: neither side of such a connection says what is wrong. */
import { speaksTls } from '../../speaks-tls.js'

/** Undefined: that is not what is wrong. */
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

/** OpenSSL's words for bytes that are not TLS: the code is that of any fault in the handshake. */
function isNoTls(error: unknown): boolean {
  return error instanceof Error && /wrong version number|packet length too long/.test(error.message)
}
