/** `cachefleetd tls show|renew|export`: shows the listener's certificate, renews it, or exports the coordinator's CA. */
import { X509Certificate } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { stdout } from 'node:process'
import { ConfigError, type Environment } from '../config/load.js'
import type { Settings } from '../config/schema.js'
import type * as OwnTlsModule from './coordinator/tls/own-tls.js'
import type { Issued } from './coordinator/tls/issue-certificate.js'
import { fingerprintOf } from './runtime/fingerprint.js'
import { becomeOwner, loadServiceSettings, requireStateDir } from './service-settings.js'

const usage = `usage: cachefleetd tls show|renew|export [settings of the daemon]
show: the certificate of the listener, its names, its end, and the fingerprint of its CA.
renew: another certificate by the same CA; a running coordinator serves it within a minute.
export: the certificate of the CA (PEM), for --coordinator-ca and CACHEFLEET_CA.`

/** Rejects with ConfigError when there is nothing to show. */
export async function runTls(
  arguments_: readonly string[],
  environment: Environment,
): Promise<void> {
  const [verb, ...words] = arguments_
  if (verb !== 'show' && verb !== 'renew' && verb !== 'export') throw new ConfigError(usage)
  const loaded = loadServiceSettings('coordinator', words, { environment, usage })
  const { settings } = loaded
  requireStateDir('coordinator', loaded)
  const own = await import('./coordinator/tls/own-tls.js')
  const { readCa } = await import('./coordinator/tls/own-ca.js')
  becomeOwner(settings.stateDir)
  if (settings.tlsCert !== null) {
    if (verb !== 'show') throw givenCertificate(settings.tlsCert)
    stdout.write(describeCertificate(new X509Certificate(await readFile(settings.tlsCert))))
    return
  }
  const ca = await readCa(settings.stateDir)
  if (!ca) throw noCa(settings)
  if (verb === 'export') stdout.write(ca.certificate)
  else if (verb === 'renew') stdout.write(await renew(settings, ca, own))
  else {
    const served = await readFile(own.serverFileOf(settings.stateDir), 'utf8').catch(() => null)
    const certificate = own.readServerCertificate(served)
    const text = certificate ? describeCertificate(certificate) : 'certificate  none yet\n'
    stdout.write(describeCa(ca.certificate, fingerprintOf(ca.certificate)) + text)
  }
}

async function renew(
  { stateDir, listen, publicUrl, tlsNames }: Settings,
  ca: Issued,
  own: typeof OwnTlsModule,
): Promise<string> {
  const names = own.nameServer({ listenHost: listen.host, publicUrl, further: tlsNames })
  const text = await own.writeServerCertificate(stateDir, ca, names, Date.now())
  const made = own.readServerCertificate(text)
  if (!made) throw new Error('the certificate that was made cannot be read')
  return `${describeCertificate(made)}a running coordinator serves it within a minute\n`
}

function describeCa(certificate: string, fingerprint: string): string {
  const { subject, validTo } = new X509Certificate(certificate)
  return [
    `CA           ${nameOf(subject)}, until ${dayOf(validTo)}`,
    `fingerprint  ${fingerprint}  (cachefleet login --fingerprint; join tokens have it)`,
    '',
  ].join('\n')
}

function describeCertificate({ issuer, validTo, subjectAltName }: X509Certificate): string {
  const names = (subjectAltName ?? '').replaceAll(/(?:DNS|IP Address):/g, '')
  return [
    `certificate  by ${nameOf(issuer)}, until ${dayOf(validTo)}`,
    `names        ${names === '' ? 'none' : names}`,
    '',
  ].join('\n')
}

/** The value of a `CN=…` line. */
function nameOf(subject: string): string {
  return /^CN=(.*)$/m.exec(subject)?.[1] ?? subject.replaceAll('\n', ', ')
}

function dayOf(validTo: string): string {
  return new Date(validTo).toISOString().slice(0, 10)
}

function givenCertificate(file: string): ConfigError {
  return new ConfigError(
    `the listener has the certificate in ${file} (--tls-cert): renew that file and send the daemon HUP`,
  )
}

function noCa({ stateDir, tls }: Settings): ConfigError {
  const when =
    tls === 'off'
      ? 'with --tls off none is made'
      : 'one is made when a coordinator starts whose listener is not on loopback (--listen)'
  return new ConfigError(`there is no CA in ${stateDir}: ${when}`)
}
