/** What users do in the shell. */

import { expect } from "@playwright/test"

export class Shell {
  constructor(page, liminal) {
    this.page = page
    this.liminal = liminal
  }

  /** Opens the link from the terminal. */
  async enter() {
    await this.page.goto(this.liminal.link)
    await this.isConnected()
  }

  async isConnected() {
    await expect(this.page.locator(".sidebar-connection")).toHaveAttribute("data-connection", "open")
  }

  get sidebar() {
    return this.page.locator("#sidebar")
  }
  get projects() {
    return this.page.locator(".project-name")
  }
  project(name) {
    return this.page
      .locator(".project")
      .filter({ has: this.page.locator(".project-name", { hasText: new RegExp(`^${name}$`) }) })
  }
  sessions(project) {
    return this.project(project).locator(".session-title")
  }
  session(title) {
    return this.page.locator(".session").filter({ has: this.page.locator(".session-title", { hasText: title }) })
  }
  get tabs() {
    return this.page.locator(".tab-title")
  }
  tab(title) {
    return this.page.locator(".tab").filter({ has: this.page.locator(".tab-title", { hasText: title }) })
  }
  get activeTab() {
    return this.page.locator(".tab[data-active] .tab-title")
  }
  get activePane() {
    return this.page.locator(".pane[data-active]")
  }
  get portlet() {
    return this.page.frameLocator(".pane[data-active] iframe")
  }
  /** The frame of Now. */
  get now() {
    return this.page.frameLocator("#pane-now iframe")
  }
  get toast() {
    return this.page.getByRole("region", { name: "Messages" }).locator(".toast")
  }

  /** Adds a project by typing its path. */
  async addProject(path) {
    await this.page.getByRole("button", { name: "Add project" }).click()
    await this.pathField.fill(path)
    await this.page.getByRole("button", { name: "Add", exact: true }).click()
    await expect(this.pathField).toHaveCount(0)
  }
  get pathField() {
    return this.page.getByLabel("Project directory")
  }

  /** Makes a directory and adds it. */
  async hasProject(name) {
    const path = await this.liminal.directory(name)
    await this.addProject(path)
    await expect(this.project(name)).toHaveCount(1)
    return path
  }

  async newSession(project, agent = "Helper") {
    await this.page.getByRole("button", { name: `New session in ${project}`, exact: true }).click()
    await this.start(agent)
  }

  /** The dialog that starts a session. */
  get starting() {
    return this.page.getByRole("dialog", { name: "New session" })
  }
  agentChoice(agent) {
    return this.starting.locator(".start-agent").filter({ hasText: new RegExp(`^\\w\\w${agent}`) })
  }
  /** Chooses an agent in the open dialog and starts, with a first message or without. */
  async start(agent, prompt = "") {
    await this.agentChoice(agent).click()
    const field = this.starting.getByLabel("What should be done?")
    await field.fill(prompt)
    await field.press("Control+Enter") // on a touch screen, Enter starts a new line
    await expect(this.starting).toHaveCount(0)
  }

  /** Starts a session in a new worktree. @param {{ name: string, agent?: string, setup?: string }} how */
  async startInWorktree(project, { name, agent, setup }) {
    await this.projectMenu(project, "New session in a worktree…")
    if (agent !== undefined) await this.agentChoice(agent).click()
    await this.starting.getByLabel("Name of the worktree").fill(name)
    if (setup !== undefined) await this.starting.getByLabel("Setup command").fill(setup)
    await this.starting.getByRole("button", { name: /^Start/ }).click()
    await expect(this.starting).toHaveCount(0)
  }

  /** Creates an idle session with this title, without the page. */
  async hasSession(path, title, cliType = "helper") {
    const id = await this.liminal.session(path, title, cliType)
    await expect(this.session(title)).toHaveCount(1)
    await this.rests(id, title)
    return id
  }

  /** Waits until every turn of a session has ended: first in the journal, because the sidebar may not yet show that one
   * began. */
  async rests(id, title) {
    await this.liminal.rests(id)
    await expect(this.session(title)).not.toHaveAttribute("data-mood", "running")
  }

  /** Opens a session from the sidebar, in a tab of its own. */
  async open(title) {
    await this.session(title).locator(".session-open").dblclick()
    await expect(this.activeTab).toHaveText(title)
    // The composer gets the focus once the session has loaded; the story's next step must come after that.
    await expect(this.composer).toBeFocused()
  }

  get composer() {
    return this.portlet.locator("textarea")
  }

  async say(text) {
    await this.composer.fill(text)
    await this.composer.press("Enter")
  }

  /** Answers the first card of Now by key. Just after a card took the focus, it ignores keys; once it is answered, the
   * next one has them. */
  async answersNow(key = "1") {
    const card = this.now.locator(".now-card .ask").first()
    await expect(card).toBeFocused()
    const asked = this.now.locator(`.ask[data-item="${await card.getAttribute("data-item")}"]:not([aria-busy])`)
    while ((await asked.count()) > 0) await this.page.keyboard.press(key)
  }

  /** Chooses an item in a session's or a project's menu. */
  async sessionMenu(title, item) {
    await this.session(title).hover()
    await this.page.getByRole("button", { name: `Actions for ${title}`, exact: true }).click()
    await this.page.getByRole("menuitem", { name: item }).click()
  }
  async projectMenu(name, item) {
    await this.project(name).locator(".project-head").hover()
    await this.page.getByRole("button", { name: `Actions for ${name}`, exact: true }).click()
    await this.page.getByRole("menuitem", { name: item }).click()
  }

  /** A stored value, without its seal. */
  stored(key) {
    return this.page.evaluate(
      (name) => JSON.parse((localStorage.getItem(name) ?? "null").replace(/^[0-9a-f]{64}(?=[{["])/, "")),
      key,
    )
  }
}
