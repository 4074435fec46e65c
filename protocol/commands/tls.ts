/**
 * Certificates of a cache with a TLS listener (Varnish 9.0, mgt_tls_conf.c): load, commit, discard, roll back, list.
 *
 * A load and a discard are staged until a commit. The manager answers, and sends what it read of the file to the child: without a
 * TLS listener a load kills the child, and only the list says that there is none.
 */
import { expectOk, expectText, garbledAnswer, type Command } from '../command.js'
import { ManagementPortError } from '../errors.js'
import { commandLine } from '../quote.js'
import { cliStatus } from '../status.js'

export interface CertificateRow {
  readonly id: string
  /** `active`: committed, or left over from a load that was rolled back. */
  readonly status: 'active' | 'staged' | 'discard'
}

const notConfigured = 'TLS has not been configured'

/** Null: the cache has no TLS listener, or its release knows no certificates. */
export function tlsCertList(): Command<readonly CertificateRow[] | null> {
  return {
    name: 'tls.cert.list',
    line: 'tls.cert.list',
    parse: (reply, name) => {
      const text = reply.body.toString('utf8')
      if (reply.status === cliStatus.unknown) return null
      if (reply.status === cliStatus.cannot && text.trim() === notConfigured) return null
      return parseCertificateList(expectText(reply, name), name)
    },
  }
}

/**
 * Frontend, id, status and subject, with tabs between them; nothing where there is no certificate. Those of every listener are
 * `default`'s; the first listener repeats them.
 */
export function parseCertificateList(text: string, name: string): readonly CertificateRow[] {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .flatMap((line) => {
      const [frontend, id, status] = line.split('\t')
      if (id === undefined || (status !== 'active' && status !== 'staged' && status !== 'discard'))
        throw garbledAnswer(name, `not a row of certificates: ${JSON.stringify(line.slice(0, 80))}`)
      return frontend === 'default' ? [{ id, status }] : []
    })
}

/** The file has the certificate, its chain and its key. Only for a cache whose list has said that it has a TLS listener. */
export function tlsCertLoad(id: string, path: string): Command<void> {
  const name = 'tls.cert.load'
  // A word that begins with a dash is an option to the cache.
  if (path.startsWith('-'))
    throw new ManagementPortError('refused', 'the path begins with a dash', { command: name })
  return { name, line: commandLine(name, [id, path]), parse: expectOk }
}

export function tlsCertDiscard(id: string): Command<void> {
  return { name: 'tls.cert.discard', line: commandLine('tls.cert.discard', [id]), parse: expectOk }
}

/** Makes what is staged count, all of it at once. */
export function tlsCertCommit(): Command<void> {
  return { name: 'tls.cert.commit', line: 'tls.cert.commit', parse: expectOk }
}

/** Forgets what is staged. */
export function tlsCertRollback(): Command<void> {
  return { name: 'tls.cert.rollback', line: 'tls.cert.rollback', parse: expectOk }
}

/** Reads the files of all that was committed anew: from then on the child serves exactly what the manager holds. */
export function tlsCertReload(): Command<void> {
  return { name: 'tls.cert.reload', line: 'tls.cert.reload', parse: expectOk }
}
