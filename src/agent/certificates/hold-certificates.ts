/**
 * Keeps the desired certificates on a cache: first the files, then what the cache loads from them (docs/behaviour.md, Certificates).
 * Certificates that do not load are remembered and delay nothing else.
 *
 * One object per agent; calls must not overlap, as for all changes to a cache (reconciler.ts).
 */
import {
  tlsCertCommit,
  tlsCertDiscard,
  tlsCertList,
  tlsCertLoad,
  tlsCertReload,
  tlsCertRollback,
  type CertificateRow,
} from '../../../protocol/commands/tls.js'
import { ManagementPortError } from '../../../protocol/errors.js'
import type { Context } from '../../context.js'
import type { DesiredCertificate, ReportedCertificate } from '../../vcl/desired-certificates.js'
import { FailureMemory } from '../apply/failure-memory.js'
import type { SavedState } from '../apply/saved-state.js'
import { refusalWords } from '../apply/settings.js'
import { digestSource } from '../apply/sources.js'
import { errorText, type Engine } from '../engine/engine.js'
import { toFailures } from '../engine/engine-words.js'
import type { CertificateFiles } from './certificate-files.js'
import {
  describeCertificateStep,
  findFeasibleCertificates,
  planCertificates,
  settleClaims,
  type CertificateClaim,
  type CertificateStep,
} from './plan-certificates.js'

interface CertificatesOptions {
  readonly engine: Engine
  readonly state: SavedState
  readonly files: CertificateFiles
  /** Fetches chain and key from the coordinator. */
  readonly fetch: (sha: string) => Promise<string>
  readonly now: () => number
}

interface CertificateOutcome {
  /** The completed steps on the cache, as text. */
  readonly done: readonly string[]
  readonly states: readonly ReportedCertificate[]
}

/** Each failed load and each resync takes one. */
const roundLimit = 16
const noListener = 'no-tls: the cache has no TLS listener'
const noChild = 'the child process of the cache does not run'
const nothing: CertificateOutcome = { done: [], states: [] }

export class Certificates {
  readonly #options: CertificatesOptions
  readonly #memory: FailureMemory
  /** Errors since the files were last checked, by `name` or `fileOf(name)`. */
  #found = new Map<string, string>()
  /** Desired texts by digest: a file that somebody removes is written again without the coordinator. */
  #texts = new Map<string, string>()
  #isDoubtful = false
  /** Files that the cache no longer needs; the boot file may still name them. */
  #unneeded: readonly string[] = []

  constructor(options: CertificatesOptions) {
    this.#options = options
    this.#memory = new FailureMemory(options.now)
  }

  /** The path for the cache's load command. */
  pathOf(name: string): string {
    return this.#options.files.pathOf(name)
  }

  /** Before the first connection, true if the cache had certificates: otherwise they would be taken from it while it starts. */
  get hasListener(): boolean {
    const { engine, state } = this.#options
    return engine.connections === 0 ? state.record.certificates.length > 0 : engine.hasTls
  }

  forgetFailures(): void {
    this.#memory.forget()
  }

  /** Describes differences from the desired state; sends nothing when nothing is desired and nothing was loaded. */
  async findDifferences(context: Context, isChildRunning: boolean): Promise<readonly string[]> {
    const { state, engine, files } = this.#options
    const { desired: wanted, certificates: claims } = state.record
    const desired = wanted?.certificates ?? []
    if (desired.length === 0 && claims.length === 0) return []
    this.#found = new Map()
    const feasible = this.#findFeasible(desired)
    const different: string[] = []
    for (const { name, sha } of feasible) {
      const text = await files.read(name)
      if (text !== null && digestSource(text) === sha) this.#texts.set(sha, text)
      else if (!this.#listFailures().has(fileOf(name)))
        different.push(`the file of certificate ${name} ${text === null ? 'is gone' : 'differs'}`)
    }
    if (!engine.hasTls || !isChildRunning) return different
    const rows = await this.#list(context)
    const steps = planCertificates({ desired: feasible, rows, claims })
    return [...different, ...steps.map((step) => `to be done: ${describeCertificateStep(step)}`)]
  }

  /** Runs before the child starts, as a missing file keeps it stopped. Returns the completed steps, as text. */
  async repairFiles(desired: readonly DesiredCertificate[]): Promise<readonly string[]> {
    if (!this.#options.engine.hasTls) return []
    const known = this.#memory.listKnown()
    this.#found = new Map()
    const texts = new Map<string, string>()
    const done: string[] = []
    const names = new Set(desired.map(({ name }) => name))
    const earlier = this.#findFeasible(desired).filter(({ name }) => !names.has(name))
    for (const { name, sha } of [...desired, ...earlier]) {
      if (known.has(fileOf(name))) continue
      try {
        const { text, isWritten } = await this.#repairFile(name, sha)
        texts.set(sha, text)
        if (isWritten) done.push(`the file of certificate ${name} written`)
      } catch (error) {
        this.#found.set(fileOf(name), errorText(error))
      }
    }
    this.#texts = texts
    return done
  }

  /** Rejects with errors of the connection to the cache, or of the disk. */
  async apply(
    context: Context,
    desired: readonly DesiredCertificate[],
  ): Promise<CertificateOutcome> {
    const { engine, state } = this.#options
    this.#unneeded = []
    if (desired.length === 0 && state.record.certificates.length === 0) return nothing
    if (!engine.hasTls) {
      await this.#letGo(desired)
      return { done: [], states: desired.map(({ name }) => asFailed(name, noListener)) }
    }
    if ((await engine.run(context, engine.reading.childStatus())) !== 'running')
      return { done: [], states: desired.map(({ name }) => asFailed(name, noChild)) }
    const done: string[] = []
    for (let round = 0; round < roundLimit; round++) {
      const rows = await this.#list(context)
      const { certificates: claims } = state.record
      const isDoubtful = this.#isDoubtful
      const feasible = this.#findFeasible(desired)
      const steps = planCertificates({ desired: feasible, rows, claims, isDoubtful })
      this.#unneeded = steps.flatMap((step) => (step.do === 'forget' ? [step.name] : []))
      if (steps.length === this.#unneeded.length) break
      await this.#run(context, steps, done)
    }
    const states = await this.#describeStates(context, desired)
    this.#memory.remember(toFailures(this.#listFailures()))
    return { done, states }
  }

  /** Runs once the boot file no longer names them: a cache that starts from it would have no replacement. */
  async removeUnneeded(): Promise<void> {
    for (const name of this.#unneeded) await this.#forget(name)
    this.#unneeded = []
  }

  /** Known failures whose retry is not due, and new ones. */
  #listFailures(): Map<string, string> {
    return new Map([...this.#memory.listKnown(), ...this.#found])
  }

  /** A certificate in use is kept even if its file is unavailable. */
  #findFeasible(desired: readonly DesiredCertificate[]): readonly DesiredCertificate[] {
    const { certificates: claims } = this.#options.state.record
    const failures = this.#listFailures()
    const held = new Set(
      claims.filter(({ state }) => state === 'committed').map(({ name }) => name),
    )
    const failed = desired
      .map(({ name }) => name)
      .filter((name) => failures.has(name) || (failures.has(fileOf(name)) && !held.has(name)))
    return findFeasibleCertificates(desired, new Set(failed), claims)
  }

  async #list(context: Context): Promise<readonly CertificateRow[]> {
    return (await this.#options.engine.run(context, tlsCertList())) ?? []
  }

  async #repairFile(
    name: string,
    sha: string,
  ): Promise<{ readonly text: string; readonly isWritten: boolean }> {
    const { files, state } = this.#options
    const there = await files.read(name)
    if (there !== null && digestSource(there) === sha) return { text: there, isWritten: false }
    const text = await this.#getText(sha)
    const claim = state.record.certificates.find((one) => one.name === name)
    // Saved before the key is written: if this process dies, the next one knows that it may delete the file.
    if (claim === undefined) await this.#claim({ name, sha }, 'discarded')
    await files.write(name, text)
    // The child may have read another file meanwhile.
    const isWritten = claim?.state === 'committed'
    if (isWritten) this.#isDoubtful = true
    return { text, isWritten }
  }

  async #run(context: Context, steps: readonly CertificateStep[], done: string[]): Promise<void> {
    for (const step of steps) {
      try {
        await this.#runStep(context, step)
        done.push(describeCertificateStep(step))
      } catch (error) {
        const why = refusalWords(error)
        context.log.warn({ step: describeCertificateStep(step), why }, 'the cache refused a step')
        await this.#noteRefusal(step, why, error)
        return
      }
    }
    if (steps.some((step) => step.do === 'commit')) await this.#noteCommitted(context)
  }

  async #runStep(context: Context, step: CertificateStep): Promise<void> {
    const { engine, files } = this.#options
    switch (step.do) {
      case 'resync':
        return this.#resync(context)
      case 'load':
        await this.#claim(step, 'loading')
        return engine.run(context, tlsCertLoad(step.name, files.pathOf(step.name)))
      case 'discard':
        return engine.run(context, tlsCertDiscard(step.name))
      case 'commit':
        return engine.run(context, tlsCertCommit())
      case 'forget':
        return this.#forget(step.name)
    }
  }

  async #resync(context: Context): Promise<void> {
    const { engine, state } = this.#options
    await engine.run(context, tlsCertRollback())
    await engine.run(context, tlsCertReload())
    const rows = await this.#list(context)
    await state.change({ certificates: [...settleClaims(state.record.certificates, rows)] })
    this.#isDoubtful = false
  }

  /** Throws errors that are not about a certificate. */
  async #noteRefusal(step: CertificateStep, why: string, error: unknown): Promise<void> {
    const { state } = this.#options
    const isChildLost = error instanceof ManagementPortError && error.status === 400
    if (step.do === 'load' && why.includes('already exists')) this.#isDoubtful = true
    else if (step.do === 'load') {
      this.#found.set(step.name, why)
      if (!isChildLost) await this.#setState(step.name, 'discarded')
    } else if (step.do === 'commit' && !isChildLost)
      for (const { name } of state.record.certificates.filter((one) => one.state === 'loading'))
        this.#found.set(name, why)
    else throw error
  }

  async #noteCommitted(context: Context): Promise<void> {
    const { state } = this.#options
    const listed = new Set((await this.#list(context)).map(({ id }) => id))
    const { certificates } = state.record
    const settled = certificates.map((claim): CertificateClaim => {
      if (listed.has(claim.name)) return { ...claim, state: 'committed' }
      return claim.state === 'committed' ? { ...claim, state: 'discarded' } : claim
    })
    await state.change({ certificates: settled })
  }

  async #setState(name: string, now: CertificateClaim['state']): Promise<void> {
    const { state } = this.#options
    const certificates = state.record.certificates.map((claim) =>
      claim.name === name ? { ...claim, state: now } : claim,
    )
    await state.change({ certificates })
  }

  /** Saved before the cache gets the command: after a kill the agent must know that the certificate is its own. */
  async #claim(
    { name, sha }: { readonly name: string; readonly sha: string },
    now: CertificateClaim['state'],
  ): Promise<void> {
    const { state } = this.#options
    const others = state.record.certificates.filter((one) => one.name !== name)
    await state.change({ certificates: [...others, { name, sha, state: now }] })
  }

  async #forget(name: string): Promise<void> {
    const { state, files } = this.#options
    await files.remove(name)
    const certificates = state.record.certificates.filter((one) => one.name !== name)
    await state.change({ certificates })
  }

  /** A cache without a listener holds no certificates and reads no file: a load, even from the boot file, would kill its child. */
  async #letGo(desired: readonly DesiredCertificate[]): Promise<void> {
    const { state } = this.#options
    const wanted = new Set(desired.map(({ name }) => name))
    const certificates = state.record.certificates.map((claim): CertificateClaim => {
      return { ...claim, state: 'discarded' }
    })
    await state.change({ certificates })
    this.#unneeded = certificates.map(({ name }) => name).filter((name) => !wanted.has(name))
  }

  async #describeStates(
    context: Context,
    desired: readonly DesiredCertificate[],
  ): Promise<readonly ReportedCertificate[]> {
    if (desired.length === 0) return []
    const listed = new Map((await this.#list(context)).map(({ id, status }) => [id, status]))
    const failures = this.#listFailures()
    return desired.map(({ name }): ReportedCertificate => {
      const status = listed.get(name)
      const error = failures.get(name) ?? failures.get(fileOf(name))
      if (error === undefined && status === 'active')
        return { name, state: 'committed', error: null }
      if (error === undefined && status === 'staged') return { name, state: 'staged', error: null }
      return asFailed(name, error ?? 'the cache does not list it')
    })
  }

  async #getText(sha: string): Promise<string> {
    const kept = this.#texts.get(sha)
    if (kept !== undefined) return kept
    const text = await this.#options.fetch(sha)
    if (digestSource(text) !== sha)
      throw new Error(`the coordinator sent another certificate than that of SHA-256 ${sha}`)
    return text
  }
}

/** The key for errors of a file, which are independent of what the cache has loaded from it. */
function fileOf(name: string): string {
  return `file of ${name}`
}

function asFailed(name: string, error: string): ReportedCertificate {
  return { name, state: 'failed', error }
}
