/** `cachefleet files`: VCL and other files, their versions, and upload of a whole folder. */
import { deleteVerb, idArgument, listVerb, updateVerb } from '../object-verbs.js'
import { fieldFlags } from '../field-flags.js'
import { file as resource } from '../../resources/file.js'
import { toNounParts } from '../resource-noun.js'
import type { Flag, Noun } from '../verb.js'
import { agent } from './agents.js'

export const file = toNounParts(resource, {
  exampleObject: 'main.vcl',
  summary: 'VCL and other files, with their versions',
  example: 'files add main.vcl',
})

const contentFlag: Flag = { form: '--content', summary: 'its bytes, as they are stored' }

export const files: Noun = {
  ...file,
  verbs: [
    listVerb(file, '--filter "name=*.vcl"'),
    {
      name: 'get',
      summary: 'shows a file; with --content nothing but what is in it',
      arguments: [idArgument(file)],
      flags: [contentFlag],
      example: 'files get main.vcl --content > main.vcl',
      run: async (invocation) => (await import('../file-content.js')).getFile(invocation, file),
    },
    {
      name: 'add',
      summary: 'creates a file from a path, or from standard input (-), named like the path',
      arguments: ['[path]'],
      flags: fieldFlags(file.fields, 'add'),
      example: 'files add main.vcl',
      run: async (invocation) => (await import('../file-content.js')).addFile(invocation, file),
    },
    updateVerb(file, '--source @main.vcl'),
    deleteVerb(file),
    {
      name: 'upload',
      summary: 'creates or updates a file for each *.vcl of a folder; equal ones do not change',
      arguments: ['<dir>'],
      flags: [
        {
          form: '--delete',
          summary: "delete the organization's other files; those in use are left",
        },
      ],
      example: 'files upload vcl/',
      run: async (invocation) => (await import('../file-folder.js')).uploadFolder(invocation, file),
    },
    {
      name: 'compile',
      summary:
        'compiles files on a cache, storing nothing: paths, -, or ids or names of stored files',
      arguments: ['<main>'],
      flags: [
        {
          form: '--includes <file,...>',
          summary: 'what it includes, by the same rule, unless it lies beside it',
        },
        { form: '--agents <agent,...>', summary: 'where; unless given on one that is Running' },
        { form: '--domains', summary: 'as the VCL of a group with domains' },
      ],
      example: 'files compile vcl/main.vcl',
      run: async (invocation) =>
        (await import('../file-compile.js')).compileFiles(invocation, { file, agent }),
    },
    {
      name: 'versions',
      summary: 'lists the versions of a file, or shows one',
      arguments: ['<id|name>', '[version]'],
      flags: [contentFlag],
      example: 'files versions main.vcl 3 --content',
      run: async (invocation) =>
        (await import('../file-content.js')).listVersions(invocation, file),
    },
    {
      name: 'diff',
      summary:
        'what changed between two versions; or between the coordinator and a folder (exit 1)',
      arguments: ['<id|name|dir>'],
      flags: [
        { form: '--from <version>', summary: 'the earlier version' },
        { form: '--to <version>', summary: 'the later version' },
      ],
      example: 'files diff main.vcl --from 1 --to 2',
      run: async (invocation) =>
        invocation.flags['from'] === undefined && invocation.flags['to'] === undefined
          ? (await import('../file-folder.js')).diffFolder(invocation, file)
          : (await import('../file-content.js')).diffVersions(invocation, file),
    },
  ],
}
