/** Chooses the form of reading commands for a release: JSON if it supports it, else text. The results are the same. */

import type { Capabilities } from './capabilities.js'
import { backendList } from './commands/backend.js'
import { banList } from './commands/ban.js'
import { paramShow, paramShowAll } from './commands/param.js'
import { childStatus, help, processIds, storageList } from './commands/process.js'
import { vclList } from './commands/vcl.js'
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

export type ReadingCommands = ReturnType<typeof chooseReadingCommands>

export function chooseReadingCommands({ answersJson }: Pick<Capabilities, 'answersJson'>) {
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
