-- SPDX-License-Identifier: BSD-3-Clause
-- Sets names of functions and constants in bold type, and parameters in italic type. Leaves code as
-- it is. Leaves out the paragraph macro between a heading and its text, since mandoc rejects it.

local page

-- Words that look like the name of an errno value, but are headings.
local headings = { ERRORS = true, ERROR = true, EXAMPLES = true, ENVIRONMENT = true }

local function split(before, name, after)
	return { pandoc.Str(before), pandoc.Strong(pandoc.Str(name)), pandoc.Str(after) }
end

-- rpma_read(3), rpma_read(), ibv_reg_mr(), RPMA_E_INVAL, EBUSY, each with or without punctuation.
function Str(str)
	local before, name, after = str.text:match("^(%W*)([a-z][a-z0-9_]*)(%(%d%).*)$")
	if name then
		return split(before, name, after)
	end
	before, name, after = str.text:match("^(%W*)(rpma_[a-z0-9_]+)%(%)(.*)$")
	if name then
		return split(before, name, (name == page and "()" or "(3)") .. after)
	end
	before, name, after = str.text:match("^(%W*)([ir][bd][vm]a?_[a-z0-9_]+)(%(%).*)$")
	if name then
		return split(before, name, after)
	end
	before, name, after = str.text:match("^(%W*)([A-Z][A-Z0-9]*_[A-Z0-9_]*%*?)(.*)$")
	if name then
		return split(before, name, after)
	end
	before, name, after = str.text:match("^(%W*)(E[A-Z][A-Z][A-Z]+)(.*)$")
	if name and not headings[name] then
		return split(before, name, after)
	end
end

function Code(code)
	local text = pandoc.Str(code.text)
	return code.text:match("^[a-z_]+$") and pandoc.Emph(text) or pandoc.Strong(text)
end

function CodeBlock(block)
	local text = block.text:gsub("\\", "\\e"):gsub("-", "\\-"):gsub("\n([.'])", "\n\\&%1")
	return pandoc.RawBlock("man", ".PP\n.RS 2\n.EX\n" .. text .. "\n.EE\n.RE")
end

function Blocks(blocks)
	for i = 2, #blocks do
		local block = blocks[i]
		if blocks[i - 1].t == "Header" and block.t == "Para" then
			blocks[i] = pandoc.Plain(block.content)
		elseif blocks[i - 1].t == "Header" and block.t == "RawBlock" then
			block.text = block.text:gsub("^%.PP\n", "")
		end
	end
	return blocks
end

return {
	{ Meta = function(meta) page = pandoc.utils.stringify(meta.title):lower() end },
	{ Str = Str, Code = Code, CodeBlock = CodeBlock, Blocks = Blocks },
}
