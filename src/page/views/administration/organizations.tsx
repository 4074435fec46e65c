/** The organizations: the system administrator creates and changes them; users of an organization see only their own. */
import { organization, type Organization } from '../../../resources/organization.js'
import { defaultOf } from '../../../resources/resource.js'
import { agoColumn, textColumn } from '../../parts/columns.js'
import type { FormInputs } from '../../parts/input-form.js'
import { readWho } from '../../session/rights.js'
import { lockedColumn } from './administration-head.js'
import { viewOf } from './administration-list.js'

const { accessTTL, refreshTTL } = organization.fields
const secondsShape = { width: '11rem', from: 'wide', isEnd: true } as const

export const View = viewOf<Organization>({
  title: 'Organizations',
  path: '/organizations',
  noun: 'organization',
  mayWrite: () => readWho()?.role === 'system',
  textOf: ({ name }) => name,
  columns: [
    textColumn('Name', ({ name }) => name),
    lockedColumn(),
    {
      title: 'Access token lifetime',
      ...secondsShape,
      show: ({ accessTTL }) => `${accessTTL} s`,
      sortBy: ({ accessTTL }) => accessTTL,
    },
    {
      title: 'Refresh token lifetime',
      ...secondsShape,
      show: ({ refreshTTL }) => `${refreshTTL} s`,
      sortBy: ({ refreshTTL }) => refreshTTL,
    },
    agoColumn('Created', ({ created }) => created, { from: 'medium' }),
  ],
  actions: {
    isChangeable: true,
    nameOf: ({ name }) => name,
    questionOf: ({ name }) => ({
      title: `Delete the organization ${name}?`,
      text: 'Its users and their tokens go with it. While it owns anything else it is not deleted.',
      name,
    }),
  },
  edit: {
    titleOf: (before) => (before ? `Organization ${before.name}` : 'New organization'),
    inputs: () => inputs,
    blank: { accessTTL: defaultOf(accessTTL), refreshTTL: defaultOf(refreshTTL) },
  },
  empty: {
    title: 'No organizations yet',
    text:
      "Without one the fleet is the system administrator's alone. Each organization sees its own files, groups and " +
      'domains, and its users get permissions there.',
  },
})

const inputs: FormInputs = {
  name: { label: 'Name', required: true },
  accessTTL: { label: 'Access token lifetime', type: 'number', hint: 'Seconds', required: true },
  refreshTTL: {
    label: 'Refresh token lifetime',
    type: 'number',
    required: true,
    hint: 'Seconds, at least as long: after so long without use people log in again',
  },
  locked: {
    label: 'Locked',
    type: 'check',
    hint: 'Login and tokens are disabled',
  },
}
