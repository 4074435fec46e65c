/** The head of each view of the administration: its title, its buttons, and the way to the other ones. */
import type { ComponentChildren } from 'preact'
import { useLayoutEffect } from 'preact/hooks'
import type { PermissionType } from '../../api/whoami.js'
import { Sections } from '../../parts/sections.js'
import { ViewHead } from '../../parts/view-head.js'
import { mayRead, mayWrite } from '../../session/rights.js'

export interface AdministrationHeadProps {
  readonly title: string
  readonly beside?: ComponentChildren
  readonly children?: ComponentChildren
}

export function AdministrationHead({ title, beside, children }: AdministrationHeadProps) {
  // On a narrow screen they scroll sideways, and each view draws them anew.
  useLayoutEffect(() => {
    document
      .querySelector('.sections [aria-current]')
      ?.scrollIntoView({ block: 'nearest', inline: 'center' })
  }, [])
  return (
    <>
      <ViewHead title={title} {...{ beside, children }} />
      <Sections label="Administration" items={sections.filter(({ needs }) => isOpen(needs))} />
    </>
  )
}

const sections: readonly {
  readonly href: string
  readonly title: string
  readonly needs: PermissionType | null
}[] = [
  { href: '/administration', title: 'Your account', needs: null },
  { href: '/administration/organizations', title: 'Organizations', needs: 'org' },
  { href: '/administration/accounts', title: 'Accounts', needs: 'account' },
  { href: '/administration/users', title: 'Users', needs: 'account' },
  { href: '/administration/sessions', title: 'Sessions', needs: 'session' },
  { href: '/administration/tokens', title: 'API tokens', needs: 'session' },
  { href: '/administration/providers', title: 'Identity providers', needs: 'idp' },
  { href: '/administration/join-tokens', title: 'Join tokens', needs: 'agent' },
  { href: '/administration/api-log', title: 'API log', needs: 'apilog' },
]

/** Join tokens are listed for those only who may make them (choices: 2, Who). */
function isOpen(needs: PermissionType | null): boolean {
  return needs === null || (needs === 'agent' ? mayWrite(needs) : mayRead(needs))
}
