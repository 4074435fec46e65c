/** The certificates that a TLS listener presents, whoever made them: nothing is sent but the handshake. */
import { isIP } from 'node:net'
import { connect, type DetailedPeerCertificate } from 'node:tls'
import { fingerprintOf } from './runtime/fingerprint.js'

interface PresentedCertificate {
  /** PEM. */
  readonly pem: string
  /** Base64url of its SHA-256. */
  readonly fingerprint: string
  /** As it names itself, or who made it; for people. */
  readonly subject: string
  readonly issuer: string
}

export interface Presented {
  /** The listener's own first. */
  readonly chain: readonly PresentedCertificate[]
  /** OpenSSL's code for why Node does not trust it; null: it does. */
  readonly problem: string | null
}

const timeoutMs = 10_000
/** Chains of public authorities have three or four. */
const longest = 10

/** Rejects with the error of network or handshake. */
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
        // Declared as an Error, and a text.
        problem: socket.authorized ? null : String(socket.authorizationError),
      })
      socket.destroy()
    })
  })
}

function listChain(first: DetailedPeerCertificate): readonly PresentedCertificate[] {
  const chain: PresentedCertificate[] = []
  const seen = new Set<DetailedPeerCertificate>()
  // One that nobody else signed is its own issuer; of an incomplete chain the last has none.
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

/** Somebody else's text: on one line, and short. */
function printName({ CN, O }: DetailedPeerCertificate['subject']): string {
  const parts = [CN, O].flat().filter((part) => part !== undefined)
  return (
    parts
      .join(', ')
      .replaceAll(/[^\x20-\x7e]/g, '?')
      .slice(0, 120) || 'nobody'
  )
}
