/** Reads the certificates that a TLS listener presents, trusted or not: only the handshake is sent. */
import { isIP } from 'node:net'
import { connect, type DetailedPeerCertificate } from 'node:tls'
import { fingerprintOf } from './runtime/fingerprint.js'

interface PresentedCertificate {
  /** PEM. */
  readonly pem: string
  /** Base64url of its SHA-256. */
  readonly fingerprint: string
  /** Subject and issuer, for display. */
  readonly subject: string
  readonly issuer: string
}

export interface Presented {
  /** The listener's own certificate comes first. */
  readonly chain: readonly PresentedCertificate[]
  /** OpenSSL's code for why Node does not trust the chain; null: trusted. */
  readonly problem: string | null
}

const timeoutMs = 10_000
/** Chains of public authorities have three or four. */
const longest = 10

/** Rejects with the error of the network or the handshake. */
export function readPresentedChain({
  hostname,
  port,
}: Pick<URL, 'hostname' | 'port'>): Promise<Presented> {
  const host = hostname.replace(/^\[(.*)\]$/, '$1')
  return new Promise((resolve, reject) => {
    const socket = connect({
      host,
      port: Number(port === '' ? 443 : port),
      rejectUnauthorized: false,
      ...(isIP(host) === 0 && { servername: host }),
    })
    socket.setTimeout(timeoutMs, () => {
      socket.destroy(new Error(`no TLS handshake within ${timeoutMs / 1000} s`))
    })
    socket.on('error', reject)
    socket.once('secureConnect', () => {
      resolve({
        chain: listChain(socket.getPeerCertificate(true)),
        // Declared as an Error, but a string.
        problem: socket.authorized ? null : String(socket.authorizationError),
      })
      socket.destroy()
    })
  })
}

function listChain(first: DetailedPeerCertificate): readonly PresentedCertificate[] {
  const chain: PresentedCertificate[] = []
  const seen = new Set<DetailedPeerCertificate>()
  // A self-signed certificate is its own issuer; the last one of an incomplete chain has none.
  let one: DetailedPeerCertificate | undefined = first
  while (one?.raw && !seen.has(one) && chain.length < longest) {
    seen.add(one)
    chain.push(describe(one))
    one = one.issuerCertificate as DetailedPeerCertificate | undefined // missing at the end
  }
  return chain
}

function describe({ raw, subject, issuer }: DetailedPeerCertificate): PresentedCertificate {
  const lines = raw.toString('base64').match(/.{1,64}/g) ?? []
  return {
    pem: ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join('\n'),
    fingerprint: fingerprintOf(raw),
    subject: printName(subject),
    issuer: printName(issuer),
  }
}

/** Untrusted text: reduced to one short line. */
function printName({ CN, O }: DetailedPeerCertificate['subject']): string {
  const parts = [CN, O].flat().filter((part) => part !== undefined)
  return (
    parts
      .join(', ')
      .replaceAll(/[^\x20-\x7e]/g, '?')
      .slice(0, 120) || 'nobody'
  )
}
