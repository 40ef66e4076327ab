import assert from 'node:assert/strict'
import { test } from 'node:test'
import { takeDescriptors } from '../../../../test/support/no-descriptors.ts'
import { without } from '../../../../test/support/optional-tools.ts'
import { openLifelineFile } from '../../launcher/lifeline.ts'
import { createJanitor } from './janitor.ts'

test(
  'a janitor that no descriptor is left for costs who asked, and is there for the next',
  { skip: without('prlimit', 'util-linux') },
  async (t) => {
    const lifeline = openLifelineFile()
    t.after(() => lifeline.close())
    lifeline.renew(process.hrtime.bigint() + 3_600_000_000_000n)
    const janitor = createJanitor({ command: 'true', args: [], env: {} }, lifeline.fd)
    const giveBack = takeDescriptors(t)
    const watched = janitor.watch('a')
    janitor.release('a')
    janitor.part()
    await assert.rejects(watched, /could not be started/)
    giveBack()
    await janitor.watch('b')
    janitor.release('b')
    await janitor.close()
  },
)
