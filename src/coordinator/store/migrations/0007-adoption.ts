/** What became of an agent's wish that the VCL which its cache ran already be adopted (choices: 1, --takeover). */
import type { Migration } from './migration.js'

export const adoptionColumns: Migration = {
  name: '0007-adoption',
  statements: ({ integer, text }) => [
    `alter table agents add column adopting ${integer} not null default 0`,
    `alter table agents add column adoption ${text}`,
  ],
}
