/** tls.cert.*: staged, committed and discarded certificates in manager and child (mgt_tls_conf.c, cache_client_ssl.c of 9.0.2). */
import { cliStatus } from '../../status.js'
import { pushCertificates, readCertificate, type CertificateInChild } from '../certificates.js'
import type { EngineState } from '../engine-state.js'
import { toBytes } from '../reply-text.js'
import { ChildPanic, type Call } from './call.js'

export function loadCertificate({ engine, reply, args }: Call): void {
  const [id = '', path = ''] = args
  const { certificates, child } = engine
  if (certificates.some((one) => one.id === id && one.state !== 'discarded')) {
    reply.refuse(cliStatus.cannot, `Id: "${id}" already exists`)
    return
  }
  const text = engine.setup.readTlsFile?.(path)
  if (text === null) {
    const why = 'No such file or directory'
    reply.refuse(cliStatus.cannot, toBytes(`Unable to read certificate file '${path}' (${why})\n`))
    return
  }
  if (child === undefined) {
    reply.refuse(cliStatus.cannot, 'Child not running')
    return
  }
  // vtls_cli_cert_load asserts that there is a listener.
  if (text === undefined) throw new ChildPanic()
  const read = readCertificate(text)
  if ('refusal' in read) {
    reply.refuse(cliStatus.cannot, toBytes(`${path}: ${read.refusal}\n`))
    return
  }
  child.certificates.push({ id, subject: read.subject, isServing: false, isDiscarded: false })
  certificates.push({ id, path, state: 'staged' })
}

export function commitCertificates({ engine }: Call): void {
  if (engine.child !== undefined) commit(engine, engine.child.certificates)
}

function commit(engine: EngineState, inChild: CertificateInChild[]): void {
  const kept = inChild.filter(({ isDiscarded, isGhost }) => !isDiscarded || isGhost)
  for (const one of kept) one.isServing ||= !one.isGhost
  inChild.splice(0, inChild.length, ...kept)
  engine.certificates = engine.certificates
    .filter(({ state }) => state !== 'discarded')
    .map((one) => ({ ...one, state: 'committed' }))
}

export function discardCertificate({ engine, reply, args }: Call): void {
  const [id = ''] = args
  const held = engine.certificates.find((one) => one.id === id)
  if (held === undefined || engine.child === undefined) {
    reply.refuse(cliStatus.cannot, 'ID not found')
    return
  }
  const inChild = engine.child.certificates.find((one) => one.id === id)
  if (inChild === undefined) {
    reply.refuse(cliStatus.cannot, `Certificate '${id}' not found\n`)
    return
  }
  inChild.isDiscarded = true
  held.state = 'discarded'
}

/** A staged certificate stays in the child's list, without serving, if another one has the same names (vtls_rollback_one). */
export function rollBackCertificates({ engine }: Call): void {
  if (engine.child === undefined) return
  engine.certificates = engine.certificates
    .filter(({ state }) => state !== 'staged')
    .map((one) => ({ ...one, state: 'committed' }))
  const { certificates } = engine.child
  const subjects = new Set(certificates.filter((one) => one.isServing).map((one) => one.subject))
  const kept = certificates.filter((one) => one.isServing || subjects.has(one.subject))
  for (const one of kept) Object.assign(one, { isDiscarded: false, isGhost: !one.isServing })
  certificates.splice(0, certificates.length, ...kept)
}

export function reloadCertificates({ engine, reply }: Call): void {
  if (engine.certificates.some(({ state }) => state !== 'committed')) {
    const why = 'There are staged changes, please commit or rollback staged changes first.\n'
    reply.refuse(cliStatus.cannot, why)
    return
  }
  if (engine.child === undefined) return
  const pushed = pushCertificates(engine)
  if ('refusal' in pushed) reply.refuse(cliStatus.cannot, toBytes(pushed.refusal))
  else engine.child.certificates = pushed.certificates
}

export function listCertificates({ engine, reply, args }: Call): void {
  if (engine.setup.readTlsFile === undefined) {
    reply.refuse(cliStatus.cannot, 'TLS has not been configured')
    return
  }
  // Certificates of the first listener apply to all, and are listed twice.
  for (const frontend of ['default', 'a1']) listOf(frontend)

  function listOf(frontend: string): void {
    for (const one of engine.child?.certificates ?? []) {
      const isStaged = !one.isServing && one.isGhost !== true
      const status = one.isDiscarded ? 'discard' : isStaged ? 'staged' : 'active'
      if (args[0] === '-s' && status === 'active') continue
      reply.out(toBytes(`${frontend}\t${one.id}\t${status}\t${one.subject}\n`))
    }
  }
}
