/**
 * `--tls auto`: the certificate of a listener without a configured one. It is created in the state directory and renewed in time
 * without a restart of the listener; a file written by `cachefleetd tls renew` is loaded in the same way.
 */
import { X509Certificate } from 'node:crypto'
import { hostname, networkInterfaces } from 'node:os'
import { join } from 'node:path'
import type { Logger } from 'pino'
import { splitPem } from '../../resources/pem.js'
import { readIfThere, writeDurably } from '../../runtime/durable-file.js'
import { startLoop, type Loop } from '../../runtime/loop.js'
import type { TlsFiles } from '../http/server.js'
import { issueServerCertificate, type Issued } from './issue-certificate.js'
import { findRenewalReason, listServerNames, type NameSources } from './judge-certificate.js'
import { fingerprintOf } from '../../runtime/fingerprint.js'
import { openCa, type SharedStore } from './own-ca.js'

type NameSettings = Pick<NameSources, 'listenHost' | 'publicUrl' | 'further'>

interface OwnTlsConfig {
  readonly stateDir: string
  readonly names: NameSettings
  /** Null: no other coordinator uses the store. */
  readonly shared: SharedStore | null
  readonly now: () => number
  readonly log: Logger
}

export interface OwnTls {
  /** Certificate, CA and key in one file. */
  readonly files: TlsFiles
  readonly caFingerprint: string
  /** Renews the certificate if it is due; calls `reload` if the listener must serve another one. */
  renewWhenDue(reload: () => Promise<void>): Promise<void>
  /** Repeats `renewWhenDue` until the loop is closed. */
  follow(reload: () => Promise<void>): Loop
}

/** Short, so that a certificate renewed by hand is served soon. */
const checkEveryMs = 10_000

/** Throws FleetError 'invalid' if the CA cannot be read. */
export async function openOwnTls(config: OwnTlsConfig): Promise<OwnTls> {
  const { stateDir, log, now } = config
  const ca = await openCa(stateDir, config.shared, now())
  const issuer = new X509Certificate(ca.certificate)
  const renew = async (): Promise<string> => {
    const text = await readIfThere(serverFileOf(stateDir))
    const names = nameServer(config.names)
    const kept = readServerCertificate(text)
    const reason = findRenewalReason(kept, { ca: issuer, names, now: now() })
    if (reason === null && text !== null) return text
    log.info({ reason, names }, 'issuing a certificate for the listener')
    return writeServerCertificate(stateDir, ca, names, now())
  }
  let served = await renew()
  const renewWhenDue = async (reload: () => Promise<void>): Promise<void> => {
    const text = await renew()
    if (text === served) return
    await reload()
    served = text
    log.info('the listener serves another certificate')
  }
  const file = serverFileOf(stateDir)
  return {
    files: { certFile: file, keyFile: file },
    caFingerprint: fingerprintOf(ca.certificate),
    renewWhenDue,
    follow: (reload) =>
      startLoop({
        log,
        trouble: 'the certificate of the listener cannot be renewed',
        everyMs: checkEveryMs,
        pass: () => renewWhenDue(reload),
      }),
  }
}

export function serverFileOf(stateDir: string): string {
  return join(stateDir, 'server.pem')
}

/** The chain includes the CA, so that agents that know its fingerprint can check it. Returns the file's text. */
export async function writeServerCertificate(
  stateDir: string,
  ca: Issued,
  names: readonly string[],
  now: number,
): Promise<string> {
  const { certificate, key } = issueServerCertificate(ca, names, now)
  const text = `${key}${certificate}${ca.certificate}`
  await writeDurably(serverFileOf(stateDir), text)
  return text
}

/** Null if the text holds no valid certificate with a key. */
export function readServerCertificate(text: string | null): X509Certificate | null {
  const blocks = splitPem(text ?? '')
  const first = blocks.find(({ label }) => label === 'CERTIFICATE')
  const hasKey = blocks.some(({ label }) => label === 'PRIVATE KEY')
  try {
    return first && hasKey ? new X509Certificate(first.text) : null
  } catch {
    return null
  }
}

/** Lists the names and addresses that this host has now. */
export function nameServer(settings: NameSettings): readonly string[] {
  const addresses = Object.values(networkInterfaces()).flatMap((all) => all ?? [])
  return listServerNames({
    ...settings,
    hostName: hostname(),
    addresses: addresses.map(({ address }) => address),
  })
}
