/** The details of a group and its state on its caches. */
import { Link } from 'wouter-preact'
import type { Group, HistoryEntry, Pins } from '../../../resources/vclgroup.js'
import { useObject } from '../../api/object.js'
import type { PermissionType } from '../../../resources/permission.js'
import { Facts } from '../../parts/facts.js'
import { Loading } from '../../parts/loading.js'
import { formatCount } from '../../parts/quantity.js'
import { ReferenceList } from '../../parts/reference-list.js'
import { Time } from '../../parts/time.js'
import { mayRead } from '../../session/rights.js'
import { compareFiles, compareNames, isChanged } from './compare-pins.js'
import { CompileErrors } from './compile-errors.js'
import { Places } from './places.js'
import { describeWaves } from './rollout/policy-fields.js'
import { useNextPins } from './use-next-pins.js'
import type { Verbs } from './use-verbs.js'

export function Overview({ group, verbs }: { readonly group: Group; readonly verbs: Verbs }) {
  const history = useObject<readonly HistoryEntry[]>(`/vclgroups/${group.id}/history`, {
    follow: 'vclgroup',
    id: group.id,
  })
  const next = useNextPins(group)
  // Shown all together: parts that arrive later would move the text being read.
  if (!next.isKnown || (!history.value && !history.error)) return <Loading />
  const newest = history.value?.[0]
  return (
    <>
      {newest && isFailed(newest) && <LastFailure entry={newest} group={group} />}
      <Undeployed group={group} next={next.pins} />
      {group.wish?.pending === true && (
        <p class="note tone-warn">
          Its deployments ask for more caches than there are. Caches that are added later get it
          automatically.
        </p>
      )}
      <GroupFacts group={group} />
      <section class="panel" aria-label="Caches">
        <h2>Caches ({formatCount(group.agentStates.length)})</h2>
        <Places group={group} last={verbs.last} />
      </section>
    </>
  )
}

export function isFailed({ revision, result }: HistoryEntry): boolean {
  return revision === null && result !== 'ok'
}

interface LastFailureProps {
  readonly entry: HistoryEntry
  readonly group: Group
}

/** A failed deploy changes nothing, so only the history shows it. */
function LastFailure({ entry, group }: LastFailureProps) {
  const { action, at, account, result } = entry
  return (
    <section class="note tone-bad" aria-label="The last deploy failed">
      <p>
        The last {action} failed, <Time at={at} isAgo />, by {account}.{' '}
        {group.deployed && 'What was deployed before keeps serving.'}{' '}
        {!group.console && <Link href={`/groups/${group.id}/deploy`}>Review deploy</Link>}
      </p>
      <CompileErrors group={group} text={result} />
      <pre tabIndex={0}>{result}</pre>
    </section>
  )
}

function Undeployed({ group, next }: { readonly group: Group; readonly next: Pins | null }) {
  const { id, wish, deployed } = group
  if (!deployed || !wish) return null
  const changes =
    (next ? compareFiles(wish, next).filter(isChanged).length : 0) +
    compareNames(fqdnsOf(wish.domains), fqdnsOf(group.domains)).filter(isOther).length +
    compareNames(idsOf(wish.deployments), idsOf(group.deployments)).filter(isOther).length +
    compareNames(wish.releases ?? [], group.releases ?? []).filter(isOther).length
  if (changes === 0) return null
  return (
    <p class="note group-hint">
      {changes} {changes === 1 ? 'change is' : 'changes are'} not deployed.{' '}
      <Link href={`/groups/${id}/deploy`}>Review deploy</Link>
    </p>
  )
}

const isOther = ({ what }: { readonly what: string }): boolean => what !== 'kept'
const fqdnsOf = (all: readonly { readonly fqdn: string }[]) => all.map(({ fqdn }) => fqdn)
const idsOf = (all: readonly { readonly id: number }[]) => all.map(({ id }) => String(id))

function GroupFacts({ group }: { readonly group: Group }) {
  const { mainVCL, includes, domains, deployments, releases, keepOnFailure, managedBy, updated } =
    group
  const { tests, requireTests, rollout } = group
  const nowhere = group.console
    ? 'its caches are named in the console'
    : 'it cannot be deployed yet'
  const list = (
    items: readonly { readonly id: number; readonly name: string }[],
    [type, home]: readonly [PermissionType, string],
    none: string,
  ) => (
    <ReferenceList
      items={items}
      none={none}
      hrefOf={mayRead(type) ? (id) => `${home}/${id}` : undefined}
    />
  )
  const main = list(mainVCL ? [mainVCL] : [], ['file', '/files'], 'None')
  const names = domains.map(({ id, fqdn }) => ({ id, name: fqdn }))
  return (
    <section class="panel" aria-label="What it is">
      <Facts
        of={[
          ['Main VCL', mainVCL?.version === undefined ? main : [main, <Pinned {...mainVCL} />]],
          ['Includes', list(includes, ['file', '/files'], 'None')],
          [
            'Tests',
            tests.length > 0 && [list(tests, ['file', '/files'], ''), requireTests && <Required />],
          ],
          [
            'Domains',
            list(
              names,
              ['domain', '/domains'],
              'None (root group): its VCL is the whole VCL of its caches',
            ),
          ],
          ['Releases', releases !== null && `only ${releases.join(', ')}`],
          ['Deployments', list(deployments, ['deployment', '/deployments'], `None: ${nowhere}`)],
          [
            'If a deploy fails',
            keepOnFailure ? 'keep the old VCL' : 'remove the group from that cache',
          ],
          ['In waves', rollout !== null && describeWaves(rollout.waves)],
          ['Managed by', managedBy !== null && <ManagedBy set={managedBy} />],
          ['Changed', <Time at={updated} />],
        ]}
      />
    </section>
  )
}

function Pinned({ version }: { readonly version?: number }) {
  return <span class="quiet">always version {version}</span>
}

function Required() {
  return <span class="quiet">no deploy without them</span>
}

function ManagedBy({ set }: { readonly set: string }) {
  return (
    <>
      the set {set} of <code>cachefleet apply</code>, which reverts changes that are made here
    </>
  )
}
