/** The roles of users as people read them. */
import type { Role } from '../../api/user.js'

export const roleTitles: Readonly<Record<Role, string>> = {
  regular: 'Regular',
  administrator: 'Administrator',
}

export const roleOptions = Object.entries(roleTitles).map(([value, title]) => ({ value, title }))
