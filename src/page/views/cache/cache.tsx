/** One cache: its state, its contents, and the actions on it. */
import type { ComponentType } from 'preact'
import type { Agent } from '../../../resources/agent.js'
import { useObject } from '../../api/object.js'
import { ProblemNotes } from '../../parts/problem-notes.js'
import { Sections } from '../../parts/sections.js'
import { StateChip } from '../../parts/state-chip.js'
import { LoadStatus } from '../../parts/load-status.js'
import { ViewHead } from '../../parts/view-head.js'
import { mayRead, mayWrite, readWho } from '../../session/rights.js'
import type { ViewProps } from '../../views.js'
import { GraphsSection } from '../graphs/graphs-section.js'
import { ConfigChip } from '../caches/config-chip.js'
import { BackendsSection } from './backends.js'
import { BansSection } from './bans.js'
import { CommandSection } from './command.js'
import { CountersSection } from './counters.js'
import { CacheActions, type CacheActionsProps } from './cache-actions.js'
import { isOwn, isReachable } from './engine-rows.js'
import { ParamsSection } from './params.js'
import { StatusSection } from './status.js'
import { VclsSection } from './vcls.js'

export interface SectionProps {
  readonly agent: Agent
  /** The user may change the cache, and it can be changed now. */
  readonly isChangeable: boolean
}

interface CacheSection {
  /** Last part of the path; empty for the first section. */
  readonly key: string
  readonly title: string
  readonly show: ComponentType<SectionProps>
  readonly isOffered?: (agent: Agent) => boolean
}

const sections: readonly CacheSection[] = [
  { key: '', title: 'Status', show: StatusSection },
  { key: 'graphs', title: 'Graphs', show: CacheGraphs, isOffered: () => mayRead('stats') },
  { key: 'vcls', title: 'VCLs', show: VclsSection },
  { key: 'backends', title: 'Backends', show: BackendsSection },
  { key: 'params', title: 'Parameters', show: ParamsSection },
  { key: 'bans', title: 'Bans', show: BansSection },
  { key: 'counters', title: 'Counters', show: CountersSection, isOffered: () => mayRead('stats') },
  {
    key: 'command',
    title: 'Command',
    show: CommandSection,
    isOffered: (agent) => mayWrite('command') && isMine(agent),
  },
]

function CacheGraphs({ agent: { id } }: SectionProps) {
  return <GraphsSection subject={{ kind: 'agents', ids: [id] }} />
}

export function View({ params }: ViewProps) {
  const { id = '', section = '' } = params
  const path = `/agents/${encodeURIComponent(id)}`
  const shown = useObject<Agent>(path, { follow: 'agent', id: Number(id) })
  const { value: agent, reload } = shown
  return (
    <>
      {agent ? (
        <CacheHead agent={agent} onChange={reload} />
      ) : (
        <ViewHead title={`Cache ${id}`} back={back} />
      )}
      <LoadStatus of={shown} mutation={null} />
      {agent && <ProblemNotes problems={agent.problems} />}
      {agent && <CacheSections agent={agent} section={section} />}
    </>
  )
}

const back = { href: '/caches', title: 'Caches' }

function CacheHead({ agent, onChange }: CacheActionsProps) {
  return (
    <ViewHead
      title={agent.name}
      back={back}
      beside={
        <>
          <StateChip state={agent.stateName} />
          <ConfigChip agent={agent} />
        </>
      }
    >
      {mayChange(agent) && <CacheActions agent={agent} onChange={onChange} />}
    </ViewHead>
  )
}

function CacheSections({ agent, section }: { readonly agent: Agent; readonly section: string }) {
  const offered = sections.filter(({ isOffered }) => isOffered?.(agent) ?? true)
  const Shown = (offered.find(({ key }) => key === section) ?? offered[0])?.show
  return (
    <>
      <Sections
        label={`Parts of ${agent.name}`}
        items={[
          ...offered.map(({ key, title }) => ({
            title,
            href: key === '' ? `/caches/${agent.id}` : `/caches/${agent.id}/${key}`,
          })),
          ...(mayRead('log') ? [{ title: 'Log', href: `/log?agents=${agent.id}` }] : []),
        ]}
      />
      {Shown && <Shown agent={agent} isChangeable={mayChange(agent) && isReachable(agent)} />}
    </>
  )
}

function mayChange(agent: Agent): boolean {
  return mayWrite('agent') && isMine(agent)
}

function isMine(agent: Agent): boolean {
  const who = readWho()
  return who !== null && isOwn(agent, who)
}
