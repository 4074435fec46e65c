/** Properties common to all domains. */
import { domain } from '../../../resources/domain.js'
import type { NamedKind } from '../../parts/named-object.js'

export const domainKind: NamedKind = {
  resource: domain,
  title: 'Domains',
  hint: 'As www.example.com; *.example.com for all names below',
}
