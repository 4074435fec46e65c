/** Display names of the user roles. */
import type { OrganizationRole } from '../../../resources/permission.js'

export const roleTitles: Readonly<Record<OrganizationRole, string>> = {
  regular: 'Regular',
  administrator: 'Administrator',
}

export const roleOptions = Object.entries(roleTitles).map(([value, title]) => ({ value, title }))
