// A word with a dotted line is explained where it stands, on hover and on focus; Escape takes the words away again.
// The sentence is the legend's own: a page without JavaScript still has that.
const note = document.createElement("p");
note.className = "note";
note.popover = "manual";
note.setAttribute("aria-hidden", "true"); // its description says the same
document.body.append(note);
const explain = (event) => {
  // A number's title says where it comes from: a pointer has it from the browser, the keyboard from here.
  const word = event.target.closest && event.target.closest(event.type === "focusin" ? ".term, [title][tabindex]" : ".term");
  if (!word) return;
  const says = word.title || document.getElementById(word.getAttribute("aria-describedby"))?.textContent;
  if (!says) return;
  note.textContent = says;
  note.showPopover();
  const at = word.getBoundingClientRect();
  const left = Math.max(8, Math.min(at.left, innerWidth - note.offsetWidth - 8));
  const below = at.bottom + 6 + note.offsetHeight < innerHeight;
  note.style.left = `${left}px`;
  note.style.top = `${below ? at.bottom + 6 : at.top - note.offsetHeight - 6}px`;
};
const hush = () => note.matches(":popover-open") && note.hidePopover();
addEventListener("pointerover", explain);
addEventListener("focusin", explain);
addEventListener("pointerout", (event) => event.target.closest && event.target.closest(".term") && hush());
addEventListener("focusout", hush);
addEventListener("scroll", hush, true);
addEventListener("keydown", (event) => event.key === "Escape" && hush());
