/** `login`, `logout`, `whoami`, `password`: the verbs about the caller's account. */
import { passwordFlags } from './password-flags.js'
import type { Verb } from './verb.js'

export const accountVerbs: readonly Verb[] = [
  {
    name: 'login',
    summary: 'logs in to a coordinator; asks for the password on a terminal',
    flags: [
      { form: '--user <name>', summary: 'account' },
      {
        form: '--org <organization>',
        summary: "organization; a system administrator's is left out",
      },
      ...passwordFlags,
      {
        form: '--fingerprint <fingerprint>',
        summary:
          "trust the coordinator's own CA with this SHA-256 (cachefleetd tls show), and no other; kept with the login",
      },
      {
        form: '--oidc',
        summary: "by the organization's identity provider, in a browser on this machine",
      },
    ],
    example: 'login --server http://127.0.0.1:8002 --user admin',
    run: async (invocation) => (await import('./login.js')).login(invocation),
  },
  {
    name: 'logout',
    summary: 'ends the session, also at the coordinator',
    example: 'logout',
    run: async (invocation) => (await import('./login.js')).logout(invocation),
  },
  {
    name: 'whoami',
    summary: 'shows the account, its organization and what it may do',
    example: 'whoami',
    run: async (invocation) => (await import('./whoami.js')).showWhoami(invocation),
  },
  {
    name: 'password',
    summary: 'changes your own password and logs in again; asks for both on a terminal',
    flags: [
      {
        form: '--old-password-file <file>',
        summary: 'the current one is the first line of a file',
      },
      {
        form: '--password-stdin',
        summary: 'standard input has the current and the new one, a line each; or the new one',
      },
      { form: '--password-file <file>', summary: 'the new one is the first line of a file' },
    ],
    example: 'password',
    run: async (invocation) => (await import('./own-password.js')).changeOwnPassword(invocation),
  },
]
