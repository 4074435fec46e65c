/** The doctor's checks and the texts of its findings; the chapter on troubles in docs/operating.md has the same texts. */

interface Problem {
  readonly result: 'warn' | 'fail'
  /** Contains `{names}` as placeholders. */
  readonly what: string
  readonly remedy: string
}

interface Check {
  readonly about: string
  readonly problems: Readonly<Record<string, Problem>>
}

const fail = (what: string, remedy: string): Problem => ({ result: 'fail', what, remedy })
const warn = (what: string, remedy: string): Problem => ({ result: 'warn', what, remedy })

export const checks = {
  settings: {
    about: 'the settings of the service can be used',
    problems: {
      bad: fail('{reason}', 'mend the setting that it names; cachefleetd --help has all'),
    },
  },
  unit: {
    about: 'the systemd unit, and that drop-ins have not taken away what protects the host',
    problems: {
      none: warn('no unit of cachefleet starts this', 'install the package, or copy the unit'),
      root: warn('{unit} runs as root', 'take User=root out of its drop-ins'),
      loose: warn('{unit} runs without {settings}', 'take what changes that out of its drop-ins'),
    },
  },
  state: {
    about: "the state directory: there, the service's own, with room",
    problems: {
      missing: fail(
        'there is no state directory {path}',
        'enrol the host, start the coordinator, or restore a backup; --state-dir names another',
      ),
      foreign: fail(
        '{path} belongs to another user than the service ({user})',
        'chown -R {user}: {path}',
      ),
      open: fail('{path} has mode {mode}: others can enter it', 'chmod 700 {path}'),
      locked: fail('{path} cannot be written: {reason}', 'mount it writable, or mend its rights'),
      full: fail('{free} MB are left on the disk of {path}', 'make room: nothing can be kept'),
      tight: warn('{free} MB are left on the disk of {path}', 'make room before it is full'),
    },
  },
  keys: {
    about: 'files with keys are readable for the service alone',
    problems: {
      open: fail('{file} has mode {mode}: others can read it', 'chmod 600 {file}'),
      unreadable: fail('{file} cannot be read: {reason}', 'give it to the user of the service'),
      password: warn(
        'the first password still lies in {file}',
        'cachefleetd admin set-password sets another and removes the file',
      ),
    },
  },
  cache: {
    about: 'the management port answers and takes the secret; the child runs',
    problems: {
      secret: fail(
        'the secret {file} cannot be read: {reason}',
        'chgrp {group} {file} && chmod 640 {file}, or engineSecretFile (--engine-secret-file)',
      ),
      away: fail(
        'the management port {address} does not answer: {reason}',
        'start the cache with -T {address}, or set engineAddress (--engine-address)',
      ),
      refused: fail(
        'the cache at {address} does not take the secret {file}',
        "engineSecretFile must be the file of the cache's -S",
      ),
      child: fail(
        "the cache's child is {state}: it serves no requests",
        'cachefleet agents panic NAME tells of a panic; varnishadm start starts it',
      ),
      release: warn(
        'cachefleet is not tested with {release}',
        'Varnish 6.0 to 9.x and Vinyl Cache 9.x are known',
      ),
    },
  },
  program: {
    about: 'the program of the cache, by which VCL is checked beside it',
    problems: {
      missing: warn(
        '{reason}: VCL is compiled by the live cache and not beside it',
        'set engineProgram (--engine-program) to the program of the cache that runs',
      ),
    },
  },
  compiler: {
    about: 'the compiler that the cache calls for VCL',
    problems: {
      missing: fail(
        'the cache compiles VCL with {program}, which is not there',
        "install it (gcc), or set the cache's cc_command",
      ),
    },
  },
  counters: {
    about: "the cache's counters can be read",
    problems: {
      folder: warn(
        "the cache's working directory is not found",
        "set engineName (--engine-name) to the cache's -n",
      ),
      unreadable: fail(
        'the counters in {folder} cannot be read: {reason}',
        'usermod -aG {group} {user}, then restart the service',
      ),
      none: fail('the cache in {folder} shares no counters', "engineName must be the cache's -n"),
    },
  },
  log: {
    about: "the cache's log in shared memory can be read",
    problems: {
      unreadable: warn(
        "the cache's log in {folder} cannot be read: {reason}",
        'usermod -aG {group} {user}, then restart the service',
      ),
    },
  },
  ports: {
    about: 'what should listen does: the cache for clients, the coordinator for all',
    problems: {
      http: fail(
        'the cache is to serve clients at {address}, and nothing listens there',
        "set engineHttp (--engine-http) to the cache's -a: purges go there",
      ),
      healthAway: warn(
        'the agent does not answer load balancers at {address}: {reason}',
        'start its service; when another program listens there, set healthListen (--health-listen)',
      ),
      unhealthy: warn(
        'load balancers are told to leave this cache alone: {reasons}',
        'mend what the reasons say; draining ends with cachefleet agents undrain NAME',
      ),
      stopped: warn(
        'no coordinator listens at {address}',
        'systemctl start cachefleet-coordinator; journalctl -u cachefleet-coordinator says why not',
      ),
      notReady: fail(
        'the coordinator at {address} is not ready: {reason}',
        'store and bus must answer; its log says more',
      ),
    },
  },
  coordinator: {
    about: 'the coordinator is reached, trusted, and knows this agent',
    problems: {
      none: fail('this host is not enrolled: {path} has no key', 'cachefleetd enroll URL'),
      away: fail(
        'the coordinator {url} is not reached: {reason}',
        'mend coordinatorUrl, or the way',
      ),
      untrusted: fail('{reason}', 'a new join token names the CA of its coordinator'),
      unknown: fail(
        'the coordinator does not take the key of this agent: {reason}',
        'the agent was deleted there: enrol the host again',
      ),
      failing: fail('the coordinator sees this agent {state}: {reason}', 'the reason says what'),
      locked: warn(
        'this agent is Locked, since it {reason}',
        'cachefleet agents unlock NAME --plan, then without --plan',
      ),
    },
  },
  clock: {
    about: 'the clock against the coordinator (of a coordinator: against PostgreSQL)',
    problems: {
      off: warn('the clock of this host is {seconds} s off', 'timedatectl set-ntp true'),
      far: fail('the clock of this host is {seconds} s off', 'timedatectl set-ntp true'),
    },
  },
  store: {
    about: 'the store answers, can be written, and is of this version',
    problems: {
      missing: fail('there is no store {path}', 'start the coordinator, or restore a backup'),
      away: fail('the store does not answer: {reason}', 'start the database; mend --store'),
      readOnly: fail('the store cannot be written: {reason}', 'mend its rights, or the server'),
      newer: fail(
        'a newer version has written the store: {reason}',
        'start that version, or restore a backup from before the upgrade',
      ),
      damaged: fail('the store is damaged: {reason}', 'restore a backup'),
      key: fail(
        '{file} is not the key that seals the store',
        'bring the right secret.key back; cachefleetd secret reset when it is lost',
      ),
    },
  },
  bus: {
    about: 'the bus between coordinators is reached',
    problems: { away: fail('the bus is not reached: {reason}', 'start NATS, or mend --bus') },
  },
  certificate: {
    about: "the listener's certificate is valid for some time",
    problems: {
      unreadable: fail('{file} cannot be used: {reason}', 'it must be a certificate in PEM'),
      expired: fail('{file} expired on {day}', 'renew it; cachefleetd tls renew for our own'),
      soon: warn(
        '{file} expires on {day}',
        'renew it; our own is renewed while the coordinator runs',
      ),
    },
  },
  versions: {
    about: 'the program, its Node, and of a coordinator the agents that it knows',
    problems: {
      skew: warn(
        '{count} agents are of a version that this coordinator does not work with: {versions}',
        'upgrade them: at most one minor version apart',
      ),
    },
  },
} as const satisfies Readonly<Record<string, Check>>

export type CheckName = keyof typeof checks

/** Returns the table in docs/operating.md, ordered by check. */
export function describeProblems(): string {
  const rows = Object.entries(checks).flatMap(([name, { problems }]) =>
    Object.values(problems as Check['problems']).map(({ result, what, remedy }) => [
      name,
      result,
      toMarkup(what),
      toMarkup(remedy),
    ]),
  )
  return [['Check', '', 'What it says', 'What to do'], ['---', '---', '---', '---'], ...rows]
    .map((cells) => `| ${cells.join(' | ')} |`)
    .join('\n')
}

function toMarkup(text: string): string {
  return text.replaceAll(/\{(\w+)\}/g, (_, name: string) => `_${name}_`)
}
