import type { Client } from '../../client/index.ts'
import { EXIT } from '../../cli/errors/exit-codes.ts'
import { Failure } from '../../cli/errors/failure.ts'
import { NAME } from '../../core/limits.ts'

/**
 * The projects of `--project a,b`; an empty list for `all`, which means every project in the
 * protocol.
 */
export function readProjects(text: string): readonly string[] {
  if (text === 'all') return []
  const names = [...new Set(text.split(',').map((name) => name.trim()))]
  const wrong = names.find((name) => !NAME.test(name))
  if (wrong !== undefined) throw refused(`"${wrong}", which is not the name of a project`)
  if (names.includes('all')) throw refused('"all" together with other projects')
  return names
}

function refused(what: string): Failure {
  return new Failure(`--project has ${what}`, {
    exitCode: EXIT.usage,
    hint: 'Give one name, several with commas between them, or all.',
  })
}

/** The text about the worker's projects, once it has connected. */
export function describeProjects(projects: readonly string[]): string {
  if (projects.length === 0) return 'all projects'
  return `the project${projects.length === 1 ? '' : 's'} ${projects.join(', ')}`
}

export interface GrantedProjects {
  readonly client: Client
  /** The projects that the server granted, once it has registered. */
  describe(): string
}

/**
 * For a worker without configured projects: registers for all of them or, if its token is for one
 * project, for that one. The server enforces what the token allows.
 */
export function serveGrantedProjects(client: Client): GrantedProjects {
  let isBound = false
  return {
    client: {
      ...client,
      async register(hello, secret) {
        if (isBound) return client.register(hello, secret)
        try {
          return await client.register({ ...hello, projects: [] }, secret)
        } catch (error) {
          if (!isProjectRefused(error)) throw error
          isBound = true
          return client.register(hello, secret)
        }
      },
    },
    describe: () => (isBound ? 'the project of its token' : 'all projects'),
  }
}

function isProjectRefused(error: unknown): boolean {
  const { code, field } = error as { code?: string; field?: string }
  return code === 'forbidden' && field === 'projects'
}
