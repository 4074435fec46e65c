/** Certificates that caches with a TLS listener serve. Private keys are write-only. */
import { id, named, organization, reference, textOrNull } from './common-fields.js'
import { texts, timeOrNull, times, uniqueName } from './common-fields.js'
import { deployment, placementState } from './deployment.js'
import { problems } from './problem.js'
import type { Answer, Resource } from './resource.js'

/** Limits of a chain. */
export const maxChain = { certificates: 20, bytes: 64 * 1024 } as const

/** The state of a certificate on an agent; `passed`: the agent fits, but does not get the certificate. */
const certificateAgentStates = ['wanted', 'applying', 'applied', 'failed', 'passed'] as const

const agentStates = {
  kind: 'list',
  computed: true,
  description: 'Of each agent that has all tags of one of the deployments',
  of: {
    kind: 'object',
    fields: {
      agent: reference,
      state: { kind: 'words', of: certificateAgentStates },
      reason: {
        ...textOrNull,
        description:
          'Of passed: no-tls, its cache has no TLS listener; or conflict, another certificate there has one of the domains',
      },
      error: textOrNull,
      deployedAt: timeOrNull,
    },
  },
} as const

export const certificate = {
  noun: 'certificate',
  permission: 'certificate',
  event: 'certificate',
  path: '/certificates',
  nameField: 'name',
  columns: ['id', 'name', 'stateName', 'domains', 'notAfter', 'deployments'],
  fields: {
    id,
    name: uniqueName,
    organization,
    chain: {
      kind: 'source',
      computed: true,
      description:
        'PEM: the certificate, then those that issued it, each the issuer of the one before. Takes effect at the next deploy; ' +
        'a PUT gives chain and key, or neither',
      write: {
        required: true,
        summary: 'a PEM file with the certificate and those that issued it; - is standard input',
      },
    },
    domains: {
      ...texts,
      description: 'The names in the certificate; each is covered by a domain of its organization',
    },
    notAfter: { kind: 'time', description: 'When it expires', title: 'expires' },
    fingerprint: { kind: 'text', description: 'SHA-256 of the certificate, as hexadecimal digits' },
    deployments: {
      kind: 'references',
      to: deployment,
      fields: named,
      computed: true,
      write: {
        nullable: true,
        summary: 'it goes to all agents that have all tags of one of these, by id or name',
      },
    },
    deployed: { kind: 'flag', computed: true, description: 'Whether it is to be on agents' },
    changed: {
      kind: 'flag',
      computed: true,
      description:
        'Whether chain and key, or deployments, are others than those that are deployed: agents serve what was before',
    },
    ...placementState,
    problems,
    deployError: {
      ...textOrNull,
      computed: true,
      description: 'Why the last deploy failed; null: it did not',
    },
    agentStates,
    ...times,
  },
} as const satisfies Resource

export type Certificate = Answer<typeof certificate.fields>
