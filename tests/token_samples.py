"""
Sentences and snippets of code for the token counters' reference texts, written for this purpose.

`token_corpus.py` joins, repeats and disturbs them; nothing here is counted by itself.
"""

# language: sentences of everyday work
SENTENCES: dict[str, tuple[str, ...]] = {
    "English": (
        "We decided to keep the billing service on one server until spring.",
        "Nobody on the team remembers why the cache was switched off, and it's costing us.",
        "I'd rather you'd ask before you've deleted anything; they'll want the old reports.",
        "Internationalization, counterintuitively, misrepresents "
        "disproportionate overcompensation.",
        "Ana said: \"Don't merge it yet!\" (She's waiting for Bob's review.)",
        "THE BUILD IS BROKEN AGAIN, PLEASE STOP PUSHING TO MAIN.",
        "teh recieved mesage was definately seperate from wat we expcted lol",
        "He reads, she writes; the rest of us – well – drink coffee…",
    ),
    "German": (
        "Die Rechtsschutzversicherungsgesellschaften haben gestern geöffnet.",
        "Wir führen nächste Woche größere Änderungen an der Datenbank durch.",
        "Übrigens heißt der neue Kollege Jörg und fährt täglich mit der Straßenbahn.",
        "Der Fehler trat nur auf, weil niemand die Geschwindigkeitsbegrenzung prüfte.",
    ),
    "French": (
        "L'équipe n'a pas encore décidé où héberger les données de l'été.",
        "Qu'est-ce qu'on fait aujourd'hui ? On répare le château, évidemment !",
        "Les élèves français préfèrent travailler très tôt, même à Noël.",
    ),
    "Spanish": (
        "¿Cuándo vamos a migrar la aplicación? Mañana, después del desayuno.",
        "El niño pequeño soñó con un pingüino que hablaba español.",
        "La reunión terminó rápidamente, ¡qué sorpresa tan agradable!",
    ),
    "Portuguese": (
        "A aplicação não funcionou porque a configuração estava errada.",
        "Amanhã nós vamos à praia com os irmãos e as irmãs do João.",
    ),
    "Italian": (
        "Perché la città è più tranquilla quando piove così a lungo?",
        "Gli sviluppatori hanno già corretto l'errore dell'altro giorno.",
    ),
    "Polish": (
        "Wszyscy żółwie są powolne, ale źrebięta biegają szybko po łące.",
        "Zespół zdecydował się przenieść usługi do Łodzi w przyszłym tygodniu.",
    ),
    "Czech": (
        "Příliš mnoho žáků přišlo včera později, než měli přijít.",
        "Databáze běží na stejném počítači jako webová služba.",
    ),
    "Turkish": (
        "Müşterilerimizden gelen şikâyetleri çözemediğimiz için üzgünüz.",
        "Yarın öğleden sonra İzmir'deki sunucuları güncelleyeceğiz.",
    ),
    "Finnish": (
        "Käyttöliittymän epäjärjestelmällisyydestäänkään emme päässeet yksimielisyyteen.",
        "Huomenna päivitämme palvelimet ennen aamiaista.",
    ),
    "Hungarian": (
        "A megszentségteleníthetetlenség szó túl hosszú egy ügyfélnek.",
        "Holnap délután újraindítjuk a kiszolgálót, mielőtt bárki észreveszi.",
    ),
    "Vietnamese": (
        "Nhóm chúng tôi đã quyết định chuyển máy chủ đến Đà Nẵng vào tuần sau.",
        "Bạn có thể gửi cho tôi bản báo cáo mới nhất được không?",
    ),
    "Russian": (
        "Мы решили перенести базу данных на новый сервер в понедельник.",
        "Почему никто не предупредил, что тесты снова не проходят?",
        "Достопримечательности Екатеринбурга понравились всем сотрудникам.",
    ),
    "Ukrainian": (
        "Ми вирішили залишити цю послугу на старому комп'ютері до весни.",
        "Її їжак з'їв усі яблука, і це нікого не здивувало.",
    ),
    "Greek": (
        "Η ομάδα αποφάσισε να αλλάξει τον διακομιστή την επόμενη εβδομάδα.",
        "Γιατί κανείς δεν διάβασε τις οδηγίες πριν ξεκινήσει;",
    ),
    "Arabic": (
        "قررنا نقل قاعدة البيانات إلى خادم جديد في بداية الأسبوع.",
        "لماذا لم يُخبرنا أحدٌ أنَّ الاختباراتِ قد فشلت مرةً أخرى؟",
        "اشترى أخي ٣ كتب بسعر ٤٥٫٥٠ ريالًا.",
    ),
    "Persian": (
        "ما تصمیم گرفتیم پایگاه داده را هفتهٔ آینده جابه‌جا کنیم.",
        "چرا هیچ‌کس گزارش‌های قدیمی را نمی‌خواند؟",
    ),
    "Hebrew": (
        "החלטנו להשאיר את השירות על שרת אחד עד האביב.",
        "מי מחק את הקבצים הישנים בלי לשאול אף אחד?",
    ),
    "Hindi": (
        "हमने अगले सप्ताह सर्वर बदलने का निर्णय लिया है।",
        "क्या आप मुझे नवीनतम रिपोर्ट भेज सकते हैं? कृपया जल्दी कीजिए।",
    ),
    "Bengali": (
        "আমরা আগামী সপ্তাহে নতুন সার্ভারে যাওয়ার সিদ্ধান্ত নিয়েছি।",
        "কেউ কি পুরোনো প্রতিবেদনগুলো পড়ে দেখেছে?",
    ),
    "Tamil": (
        "அடுத்த வாரம் புதிய சேவையகத்திற்கு மாற முடிவு செய்துள்ளோம்.",
        "யாராவது பழைய அறிக்கைகளைப் படித்தார்களா?",
    ),
    "Thai": (
        "ทีมของเราตัดสินใจย้ายฐานข้อมูลไปยังเครื่องใหม่ในสัปดาห์หน้า",
        "ทำไมไม่มีใครบอกว่าการทดสอบล้มเหลวอีกแล้ว",
    ),
    "Chinese": (
        "我们决定下周把数据库迁移到新的服务器上。",
        "为什么没有人告诉我们测试又失败了？请尽快修复。",
        "昨天買了三本書，總共花費四百五十元。",
    ),
    "Japanese": (
        "来週、データベースを新しいサーバーに移すことにしました。",
        "どうして誰もテストが失敗したと教えてくれなかったのですか?",
        "カタカナとひらがなと漢字を混ぜて書くと、長くなります。",
    ),
    "Korean": (
        "다음 주에 데이터베이스를 새 서버로 옮기기로 결정했습니다.",
        "왜 아무도 시험이 또 실패했다고 알려 주지 않았나요?",
    ),
    "Georgian": ("ჩვენ გადავწყვიტეთ სერვერის შეცვლა მომავალ კვირას.",),
    "Armenian": ("Մենք որոշեցինք փոխել սերվերը հաջորդ շաբաթ։",),
    "Amharic": ("በሚቀጥለው ሳምንት አገልጋዩን ለመቀየር ወስነናል።",),
    "Khmer": ("យើងបានសម្រេចចិត្តប្តូរម៉ាស៊ីនមេនៅសប្តាហ៍ក្រោយ។",),
    "Swahili": ("Tumeamua kuhamisha seva wiki ijayo kwa sababu ni polepole sana.",),
    "emoji": (
        "🚀🎉 ship it 👍🏽👍🏿 done ✅",
        "👩\u200d💻👨\u200d👩\u200d👧\u200d👦 🏳️\u200d🌈 🇩🇪🇯🇵 ❤️\u200d🔥 1️⃣2️⃣",
        "ok 😀😃😄 (≧▽≦) ¯\\_(ツ)_/¯ 🫠🪿",
    ),
}

# language: a snippet; NAME, OTHER and 42 are replaced
CODE: dict[str, str] = {
    "Python": (
        "@dataclass(frozen=True)\nclass NAME:\n"
        "    OTHER: dict[str, int] = field(default_factory=dict)\n"
        '\n    def total(self) -> float:\n        """Return the sum."""\n'
        "        return sum(v ** 2 for v in self.OTHER.values() if v != 42) / 1e-9\n"
    ),
    "JavaScript": (
        "export const NAME = async ({ OTHER = 42, ...rest }) => {\n"
        "  const res = await fetch(`/api/${OTHER}?q=${encodeURIComponent(rest.q)}`);\n"
        "  return res.ok ? (await res.json()).items?.map((x) => x.id) ?? [] : null;\n};\n"
    ),
    "TypeScript": (
        "type NAME<T extends object> = { readonly [K in keyof T]?: T[K] | undefined };\n"
        "function OTHER<T>(xs: T[], n: number = 42): asserts xs is NonNullable<T>[] {}\n"
    ),
    "Rust": (
        "impl<'a, T: Clone + 'a> NAME<'a, T> {\n    pub fn OTHER(&self, n: usize) -> Option<&T> {\n"
        "        match self.items.get(n % 42) {\n            Some(x) if n > 0 => Some(x),\n"
        "            _ => None,\n        }\n    }\n}\n"
    ),
    "Go": (
        "func (s *NAME) OTHER(ctx context.Context) error {\n\tfor i := 0; i < 42; i++ {\n"
        "\t\tif err := s.run(ctx, i); err != nil {\n"
        '\t\t\treturn fmt.Errorf("run %d: %w", i, err)\n\t\t}\n\t}\n\treturn nil\n}\n'
    ),
    "Java": (
        "public final class NAME implements Comparable<NAME> {\r\n"
        "    private static final int OTHER = 42;\r\n\r\n    @Override\r\n"
        "    public int compareTo(NAME o) { return Integer.compare(this.size, o.size); }\r\n}\r\n"
    ),
    "C": (
        "#include <stdio.h>\n\nstatic int OTHER(const char *s, size_t n)\n{\n"
        "\twhile (n-- && *s++ != '\\0')\n\t\t;\n\treturn (int)n ^ 0x42; /* NAME */\n}\n"
    ),
    "C++": (
        "template <typename T, auto N = 42>\nstruct NAME : std::array<T, N> {\n"
        "  [[nodiscard]] constexpr auto OTHER() const noexcept -> T&& "
        "{ return std::move(*this); }\n};\n"
    ),
    "C#": (
        "public record NAME(string Id, decimal OTHER = 42m)\n{\n"
        '    public override string ToString() => $"{Id}: {OTHER:F2}";\n}\n'
    ),
    "Ruby": (
        "class NAME\n  attr_reader :OTHER\n  def each(&block) = @OTHER.select { |x| x > 42 }"
        ".each(&block)\n  def to_s = \"#{self.class}<#{@OTHER.join(', ')}>\"\nend\n"
    ),
    "PHP": (
        "<?php\nfunction OTHER(array $xs, ?int $n = 42): iterable {\n"
        "    foreach ($xs as $k => $x) { yield $k => $x['NAME'] ?? $n; }\n}\n"
    ),
    "SQL": (
        "SELECT m.id, COUNT(*) FILTER (WHERE e.kind = 'NAME') AS OTHER\n"
        "  FROM memories AS m LEFT JOIN evidence e USING (id)\n"
        " WHERE m.rank >= 42 GROUP BY 1 HAVING COUNT(*) > 3 ORDER BY 2 DESC;\n"
    ),
    "shell": (
        "for f in \"${OTHER[@]}\"; do\n  grep -rniE '^NAME\\s*=' \"$f\" | awk -F: '{print $1}' "
        "| sort -u >> /tmp/out.42 2>&1 || exit 1\ndone\n"
    ),
    "Haskell": (
        "OTHER :: (Ord a, Num a) => [a] -> Maybe a\nOTHER [] = Nothing\n"
        "OTHER (x:xs) = Just $ foldr (\\y acc -> if y > 42 then max y acc else acc) x xs -- NAME\n"
    ),
    "Kotlin": (
        "data class NAME(val OTHER: List<Int>?) {\n"
        "    fun sum() = OTHER?.filter { it != 42 }?.sumOf { it * 2 } ?: 0\n}\n"
    ),
    "CSS": (
        ".NAME--active:not(:hover) > .OTHER::before{content:'\\201C';margin:-42px auto 0;"
        "color:#ff00aa}\n@media (max-width:42rem){.NAME{display:none!important}}\n"
    ),
    "HTML": (
        '<!DOCTYPE html>\n<html lang="en"><head><title>NAME &amp; OTHER</title></head>\n'
        '<body class="p-4 mt-42"><a href="#OTHER">&larr; back</a><br/></body></html>\n'
    ),
    "LaTeX": (
        "\\begin{align*}\n  \\int_0^\\infty e^{-x^2}\\,dx &= \\frac{\\sqrt{\\pi}}{2} "
        "\\label{eq:NAME}\\\\\n  OTHER_{42} &\\leq \\sum_{i=1}^{n} \\alpha_i\n\\end{align*}\n"
    ),
    "assembly": "NAME:\n\tmov\teax, DWORD PTR [rbp-42]\n\tjne\t.L_OTHER\n\txor\tr8d, r8d\n\tret\n",
    "diff": "@@ -12,7 +42,7 @@ def NAME(x):\n-    return OTHER\n+    return OTHER or None\n \n",
    "trace": (
        'Traceback (most recent call last):\n  File "/srv/NAME.py", line 42, in <module>\n'
        "    OTHER()\nValueError: bad port: '80a'\n"
    ),
}
