import { Firefox } from "../support/firefox.js"
import { expect, test as base } from "../support/story.js"
import { Stranger, harvest } from "../support/stranger.js"

const test = base.extend({
  firefox: async ({}, use) => {
    const firefox = await Firefox.start()
    await use(firefox)
    await firefox.close()
  },
})

const connected = '.sidebar-connection[data-connection="open"]'

test("Firefox logs in with the link, holds a conversation, and is still logged in after a reload", async ({
  firefox,
  liminal,
}) => {
  test.slow()
  const path = await liminal.directory("web")
  await firefox.open(liminal.link)
  await firefox.sees(connected)
  expect(await firefox.run(() => location.href)).toBe(`${liminal.origin}/`)
  await firefox.click(".sidebar-add")
  await firefox.type("#add-project-path", `${path}\uE007`)
  await firefox.sees(".project", "web")
  await liminal.session(path, "From a script")
  await firefox.click(".session-open", "From a script")
  await firefox.enter(".pane[data-active] iframe")
  await firefox.sees(".message", "You said: From a script")
  await firefox.type("textarea", "from Firefox\uE007")
  await firefox.sees(".message", "You said: from Firefox")

  await firefox.enter()
  await firefox.reload()
  await firefox.sees(connected)
  await firefox.enter(".pane[data-active] iframe")
  await firefox.sees(".message", "You said: from Firefox")
  await firefox.type("textarea", "and again\uE007")
  await firefox.sees(".message", "You said: and again")
})

test("in Firefox too, nothing that a stranger's page finds on our address opens the door", async ({
  firefox,
  liminal,
}) => {
  test.slow()
  await firefox.open(liminal.link)
  await firefox.sees(connected)
  await liminal.stop()
  const stranger = await Stranger.at(liminal.origin, { "/": { body: "<!doctype html><title>Stranger</title>" } })
  await firefox.open(`${liminal.origin}/`)
  const { texts, keys, exported } = await firefox.run(harvest)
  await stranger.leaves()
  expect(keys).toBe(2)
  expect(exported).toEqual(exported.map(() => "refused"))
  expect(texts).not.toContain(liminal.token)
  await liminal.up()
  await firefox.open(`${liminal.origin}/`)
  await firefox.sees(connected)
})
