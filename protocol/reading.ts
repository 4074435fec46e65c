/** The reading commands in the form that a release answers: JSON where it has it, else text. The results are the same. */

import { capabilitiesOf, type Capabilities } from './capabilities.js'
import type { Command } from './command.js'
import { backendList, type Backend, type BackendListOptions } from './commands/backend.js'
import { banList, type Ban } from './commands/ban.js'
import { paramShow, paramShowAll, type Param } from './commands/param.js'
import {
  childStatus,
  help,
  processIds,
  storageList,
  type ChildState,
  type HelpEntry,
  type ProcessIds,
  type Storage,
} from './commands/process.js'
import { vclList, type VclRow } from './commands/vcl.js'
import { backendListText } from './text/backend-list.js'
import { paramShowAllText, paramShowText } from './text/param-show.js'
import {
  banListText,
  childStatusText,
  helpText,
  processIdsText,
  storageListText,
} from './text/process.js'
import { vclListText } from './text/vcl-list.js'

export interface ReadingCommands {
  readonly vclList: () => Command<readonly VclRow[]>
  readonly backendList: (options?: BackendListOptions) => Command<readonly Backend[]>
  readonly banList: () => Command<readonly Ban[]>
  readonly paramShow: (param: string) => Command<Param>
  readonly paramShowAll: () => Command<readonly Param[]>
  readonly childStatus: () => Command<ChildState>
  readonly processIds: () => Command<ProcessIds>
  readonly storageList: () => Command<readonly Storage[]>
  readonly help: () => Command<readonly HelpEntry[]>
}

/** By what is known of the release; null, a build that does not say, is taken for the newest. */
export function readingCommandsOf(version: string | null): ReadingCommands {
  return chooseReadingCommands(capabilitiesOf(version))
}

export function chooseReadingCommands({ answersJson }: Capabilities): ReadingCommands {
  const choose = <Form>(command: string, json: Form, text: Form) =>
    answersJson(command) ? json : text
  return {
    vclList: choose('vcl.list', vclList, vclListText),
    backendList: choose('backend.list', backendList, backendListText),
    banList: choose('ban.list', banList, banListText),
    paramShow: choose('param.show', paramShow, paramShowText),
    paramShowAll: choose('param.show', paramShowAll, paramShowAllText),
    childStatus: choose('status', childStatus, childStatusText),
    processIds: choose('pid', processIds, processIdsText),
    storageList: choose('storage.list', storageList, storageListText),
    help: choose('help', help, helpText),
  }
}
