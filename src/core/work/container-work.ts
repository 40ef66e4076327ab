import { isAboutEngine } from './variable.ts'
import type { Started } from './work.ts'
import { argument, commandLine, text, wrong } from './check-text.ts'

/** A container to run, as it is stored and as it travels to a worker. */
export interface ContainerWork extends Started {
  readonly executor: 'container'
  readonly image: string
  /** The arguments of the image's own program; or the program, if the image has none. */
  readonly command?: readonly string[]
  /** Instead of the image's own program. */
  readonly entrypoint?: readonly string[]
  readonly mounts?: readonly Mount[]
  readonly workdir?: string
  /** A user of the image: a name or numbers. */
  readonly user?: string
  readonly network?: Network
  readonly pull?: Pull
}

export interface Mount {
  /** A path of the worker's machine, which must allow it. */
  readonly source: string
  readonly target: string
  readonly readonly?: boolean | undefined
}

export const NETWORKS = ['default', 'none'] as const
export type Network = (typeof NETWORKS)[number]
export const PULLS = ['missing', 'never', 'always'] as const
export type Pull = (typeof PULLS)[number]

/** As people write it. What surrounds it (`env`, `stdin`, `limits`) stands beside it. */
export interface ContainerInput {
  readonly image: string
  readonly command?: readonly string[] | undefined
  readonly entrypoint?: readonly string[] | undefined
  readonly mounts?: readonly Mount[] | undefined
  readonly workdir?: string | undefined
  readonly user?: string | undefined
  readonly network?: Network | undefined
  readonly pull?: Pull | undefined
}

/** What engines take for a name, and surely not for an option. */
const IMAGE = /^[A-Za-z0-9][A-Za-z0-9._:/@-]{0,511}$/
const USER = /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,31}(?::[A-Za-z0-9_][A-Za-z0-9_.-]{0,31})?$/
/** Engines write mounts as lists with commas and colons, and take some letters for their own. */
const PATH = /^\/[^,:"'\\\p{Cc}]*$/u

export function readContainer(
  input: ContainerInput,
  at: string,
  env: Readonly<Record<string, string>> = {},
): ContainerWork {
  const { image, command, entrypoint, mounts, workdir, user, network, pull } = input
  if (!IMAGE.test(image)) throw wrong(`${at}image`, 'is not the name of an image')
  for (const [index, word] of (command ?? []).entries()) argument(word, `${at}command.${index}`)
  if (user !== undefined && !USER.test(user)) {
    throw wrong(`${at}user`, 'must be a user of the image, such as app or 1000:1000')
  }
  checkVariables(env, at.replace('container.', 'env.'))
  return {
    executor: 'container',
    image,
    ...(command === undefined ? {} : { command }),
    ...(entrypoint === undefined ? {} : { entrypoint: commandLine(entrypoint, `${at}entrypoint`) }),
    ...(mounts === undefined ? {} : { mounts: mountsOf(mounts, `${at}mounts`) }),
    ...(workdir === undefined ? {} : { workdir: path(workdir, `${at}workdir`) }),
    ...(user === undefined ? {} : { user }),
    ...(network === undefined ? {} : { network }),
    ...(pull === undefined ? {} : { pull }),
  }
}

function mountsOf(mounts: readonly Mount[], field: string): readonly Mount[] {
  for (const [index, { source, target }] of mounts.entries()) {
    path(source, `${field}.${index}.source`)
    path(target, `${field}.${index}.target`)
    if (target === '/' || mounts.findIndex((other) => other.target === target) < index) {
      throw wrong(`${field}.${index}.target`, 'is taken already')
    }
  }
  return mounts
}

/** Without steps up: what a worker allows must be told from the text. */
function path(value: string, field: string): string {
  if (PATH.test(text(value, field)) && !value.split('/').includes('..')) return value
  throw wrong(field, 'must be an absolute path without "..", commas, colons or quotes')
}

/** Those that engines themselves heed travel in a file of lines, and not in the engine's environment. */
function checkVariables(env: Readonly<Record<string, string>>, at: string): void {
  for (const [name, value] of Object.entries(env)) {
    if (!isAboutEngine(name) || !/[\n\r]/.test(value)) continue
    throw wrong(
      `${at}${name}`,
      'contains a line break, which a container cannot be given under this name',
    )
  }
}
